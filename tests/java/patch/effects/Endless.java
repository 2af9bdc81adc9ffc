import java.util.concurrent.CountDownLatch;

/** A thread that never leaves its method, and one that may. */
public class Endless {
    static final CountDownLatch RUNNING = new CountDownLatch(2);
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
        synchronized (RUNNING) {
            try {
                RUNNING.wait(10);
            } catch (InterruptedException e) {
                ends = true;
            }
        }
    }

    static String word() {
        return "original";
    }

    public static String answer() throws Exception {
        if (RUNNING.getCount() == 2) {
            for (Runnable run : new Runnable[] {Endless::forever, Endless::whileItRuns}) {
                Thread thread = new Thread(run, "worker");
                thread.setDaemon(true);
                thread.start();
            }
            RUNNING.await();
        }
        return word();
    }
}
