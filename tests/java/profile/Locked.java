import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.concurrent.CountDownLatch;

/** Two threads in a deadlock, one that waits for one of them, and one that waits without a notification. */
public class Locked {
    static class Left {}

    static class Right {}

    static class Gate {}

    static final Left LEFT = new Left();
    static final Right RIGHT = new Right();

    static void enter(Object first, Object second, CountDownLatch both) {
        synchronized (first) {
            both.countDown();
            try {
                both.await();
            } catch (InterruptedException never) {
                throw new AssertionError(never);
            }
            synchronized (second) {
                throw new AssertionError("it is locked");
            }
        }
    }

    static Thread start(String name, Runnable body) throws Exception {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** A thread is also blocked for a moment while another one loads a class that it needs. */
    static boolean isLocked(Thread thread) {
        ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId());
        return info != null && (LEFT.toString() + RIGHT).contains(String.valueOf(info.getLockName()));
    }

    public static void main(String[] arguments) throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        Thread[] all = {
            start("one", () -> enter(LEFT, RIGHT, both)),
            start("other", () -> enter(RIGHT, LEFT, both)),
            start("third", () -> {
                try {
                    both.await();
                } catch (InterruptedException never) {
                    throw new AssertionError(never);
                }
                synchronized (LEFT) {
                    throw new AssertionError("it is locked");
                }
            }),
        };
        while (!isLocked(all[0]) || !isLocked(all[1]) || !isLocked(all[2])) {
            Thread.sleep(1);
        }
        Gate gate = new Gate();
        Thread waits = start("waits", () -> {
            synchronized (gate) {
                try {
                    gate.wait();
                } catch (InterruptedException never) {
                    throw new AssertionError(never);
                }
            }
        });
        while (waits.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        Thread.sleep(20);
        System.out.println("locked");
    }
}
