import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Virtual threads that never leave their method, and some that may. */
public class Virtual {
    static final int MORE = 7;
    static final CountDownLatch RUNNING = new CountDownLatch(1 + MORE);
    static volatile boolean ends;

    static void forever() {
        RUNNING.countDown();
        while (true) {
            pause();
        }
    }

    static void whileItRuns() {
        RUNNING.countDown();
        while (!ends) {
            pause();
        }
    }

    static void pause() {
        LockSupport.parkNanos(10_000_000);
    }

    static String word() {
        return "original";
    }

    public static String answer() throws Exception {
        if (RUNNING.getCount() > 0) {
            Thread.ofVirtual().name("endless").start(Virtual::forever);
            for (int number = 0; number < MORE; number++) {
                Thread.ofVirtual().name("worker").start(Virtual::whileItRuns);
            }
            RUNNING.await();
        }
        return word();
    }
}
