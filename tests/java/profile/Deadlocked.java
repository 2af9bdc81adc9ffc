import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/** Two threads that wait for one another's monitors, and two for one another's locks, from before the recording. */
public class Deadlocked {
    static class Left {}

    static class Right {}

    interface Step {
        void run() throws InterruptedException;
    }

    static Thread start(String name, Step step) {
        Thread thread = new Thread(() -> {
            try {
                step.run();
            } catch (InterruptedException never) {
                throw new AssertionError(never);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static void enter(Object first, Object second, CountDownLatch both) throws InterruptedException {
        synchronized (first) {
            both.countDown();
            both.await();
            synchronized (second) {
                throw new AssertionError("it is locked");
            }
        }
    }

    static void lock(ReentrantLock first, ReentrantLock second, CountDownLatch both) throws InterruptedException {
        first.lock();
        both.countDown();
        both.await();
        second.lock();
    }

    public static void main(String[] arguments) throws Exception {
        Left left = new Left();
        Right right = new Right();
        ReentrantLock one = new ReentrantLock();
        ReentrantLock other = new ReentrantLock();
        CountDownLatch entered = new CountDownLatch(2);
        CountDownLatch locked = new CountDownLatch(2);
        Thread[] blocked = {
            start("enters-left", () -> enter(left, right, entered)), start("enters-right", () -> enter(right, left, entered)),
        };
        Thread[] parked = {start("locks-one", () -> lock(one, other, locked)), start("locks-other", () -> lock(other, one, locked))};
        for (Thread thread : blocked) {
            while (thread.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
        }
        while (!one.hasQueuedThreads() || !other.hasQueuedThreads()) {
            Thread.sleep(1);
        }
        for (Thread thread : parked) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
        System.out.println("up");
        System.in.read();
        System.out.println("down");
    }
}
