import java.util.concurrent.CountDownLatch;

/** Runs two threads, one of which holds a monitor that the other needs. */
public class Stalls {
    static class Gate {}

    static int entered;

    static void enter(Gate gate) {
        synchronized (gate) {
            entered++;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Gate gate = new Gate();
        for (int i = 0; i < 3; i++) {
            CountDownLatch held = new CountDownLatch(1);
            Thread other = new Thread(() -> {
                held.countDown();
                enter(gate);
            }, "other");
            synchronized (gate) {
                other.start();
                held.await();
                while (other.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
                Thread.sleep(5);
            }
            other.join();
        }
        System.gc();
        System.out.println("entered " + entered + " times");
    }
}
