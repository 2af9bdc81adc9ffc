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
        for (Thread thread : all) {
            while (thread.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
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
