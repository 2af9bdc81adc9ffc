import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;

/**
 * One thread calls `step` as often as it can; another executes orders: `rare N` calls one of the methods that are
 * rarely called, `deep` overflows the stack and prints how often that was caught, `pause` and `go` stop and start the first,
 * `end` ends the program. It is ready when the first has run.
 */
public class Hot {
    static volatile boolean paused;
    static volatile boolean ended;
    static volatile boolean idle;
    static volatile long sum;
    static int overflows;
    static final CountDownLatch RUNNING = new CountDownLatch(1);

    static class Work {
        static int step(int i) {
            if (i % 3 == 0) return i + 1;
            return i > 1_000_000_000 ? rare(i) : i ^ 2;
        }

        static int rare(int which) {
            switch (which) {
                case 1: return 10;
                case 2: return 20;
                default: return 30;
            }
        }

        /** The number of calls that overflowed the stack and were caught by their caller. */
        static int deep() {
            try {
                return deep();
            } catch (StackOverflowError overflow) {
                return ++overflows;
            }
        }
    }

    /** Returns repeatedly, so that its code is entered anew. */
    static long burst() {
        long found = 0;
        for (int i = 0; i < 10_000; i++) found += Work.step(i);
        return found;
    }

    static void work() {
        while (!ended) {
            idle = paused;
            if (paused) Thread.yield();
            else sum += burst();
            RUNNING.countDown();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Thread worker = new Thread(Hot::work, "worker");
        worker.start();
        RUNNING.await();
        System.out.println("up");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null && !line.equals("end"); line = input.readLine()) {
            if (line.startsWith("rare ")) System.out.println(Work.rare(Integer.parseInt(line.substring(5))));
            else if (line.equals("deep")) {
                overflows = 0;
                System.out.println(Work.deep());
            } else {
                paused = line.equals("pause");
                while (idle != paused) Thread.yield();
                System.out.println(line);
            }
        }
        ended = true;
        worker.join();
        System.out.println(sum % burst() == 0 ? "whole bursts" : "wrong sum");
    }
}
