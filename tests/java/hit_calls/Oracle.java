import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Threads call methods of generated classes, `M0`, `M1` and so on, and count each visit of a method when it begins and when
 * it ends. `allow HEX` sets the methods that may be visited, one bit for each; `counts` prints all begins and all ends; `end`
 * ends the program. It is ready when each thread has run.
 */
public class Oracle {
    static final int THREADS = 3;
    static final int METHODS = 64;
    static volatile long allowed = -1;
    static volatile boolean ended;
    static final CountDownLatch RUNNING = new CountDownLatch(THREADS);
    /** By thread and method. */
    static final AtomicLongArray BEGINS = new AtomicLongArray(THREADS * METHODS);
    static final AtomicLongArray ENDS = new AtomicLongArray(THREADS * METHODS);

    /** Returns whether a method may be visited, and counts the begin of the visit. */
    static boolean begins(int thread, int method, boolean wanted) {
        if (!wanted || (allowed >>> method & 1) == 0) return false;
        BEGINS.getAndIncrement(thread * METHODS + method);
        return true;
    }

    static void ends(int thread, int method) {
        ENDS.getAndIncrement(thread * METHODS + method);
    }

    /** Never returns before the end: the compilers replace it while it runs. */
    static void work(int thread) {
        int seed = thread + 1;
        for (long round = 0; !ended; round++) {
            seed = Roots.visit(thread, seed * 1_103_515_245 + 12_345);
            if (round == 100) RUNNING.countDown();
        }
    }

    static String sums(AtomicLongArray counts) {
        StringBuilder text = new StringBuilder();
        for (int method = 0; method < METHODS; method++) {
            long sum = 0;
            for (int thread = 0; thread < THREADS; thread++) sum += counts.get(thread * METHODS + method);
            text.append(method == 0 ? "" : ",").append(sum);
        }
        return text.toString();
    }

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < THREADS; i++) {
            int thread = i;
            Thread worker = new Thread(() -> work(thread), "worker " + i);
            worker.setDaemon(true);
            worker.start();
        }
        RUNNING.await();
        System.out.println("up");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null && !line.equals("end"); line = input.readLine()) {
            if (line.startsWith("allow ")) allowed = Long.parseUnsignedLong(line.substring(6), 16);
            if (line.equals("counts")) {
                // The ends first: a visit that has ended has begun.
                String ends = sums(ENDS);
                System.out.println(sums(BEGINS) + ";" + ends);
            } else System.out.println(line);
        }
        ended = true;
    }
}
