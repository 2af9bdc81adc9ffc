import java.io.File;
import java.util.concurrent.CountDownLatch;

/** Shutdown hooks that end before the hook that records them, beside it and after it. */
public class Hooks {
    private static final CountDownLatch RUNNING = new CountDownLatch(8);

    /** With an argument a hook marks it as a file to be deleted, and main ends by an exit. */
    public static void main(String[] arguments) {
        for (int number = 0; number < 8; number++) {
            Runtime.getRuntime().addShutdownHook(new Hook(number));
        }
        if (arguments.length > 0) {
            Runtime.getRuntime().addShutdownHook(new Thread(new File(arguments[0])::deleteOnExit));
            System.exit(0);
        }
    }

    private static final class Hook extends Thread {
        private final int number;

        Hook(int number) {
            this.number = number;
        }

        @Override
        public void run() {
            RUNNING.countDown();
            try {
                RUNNING.await();
                Thread.sleep(number);
            } catch (InterruptedException cause) {
                throw new IllegalStateException(cause);
            }
            Sum.add(number);
        }
    }

    /** The sum of the numbers of the hooks that have ended. */
    private static final class Sum {
        private static int sum;

        static synchronized void add(int number) {
            sum += number;
            if (sum == 28) {
                last();
            }
        }

        private static void last() {
            sum = 0;
        }
    }
}
