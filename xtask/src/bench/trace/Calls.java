import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Calls an empty method in a hot loop on some threads, and prints after each round the CPU time that a call took, in
 * nanoseconds: the mean over the threads. After the first half of the rounds it says so and waits for a line.
 */
public class Calls {
    static final ThreadMXBean TIMES = ManagementFactory.getThreadMXBean();

    static void empty() {}

    static long loop(long calls) {
        long start = TIMES.getCurrentThreadCpuTime();
        for (long i = 0; i < calls; i++) empty();
        return TIMES.getCurrentThreadCpuTime() - start;
    }

    static double round(long calls, int count) throws InterruptedException {
        long[] times = new long[count];
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            int place = i;
            threads[i] = new Thread(() -> times[place] = loop(calls));
            threads[i].start();
        }
        double sum = 0;
        for (int i = 0; i < count; i++) {
            threads[i].join();
            sum += (double) times[i] / calls;
        }
        return sum / count;
    }

    public static void main(String[] arguments) throws Exception {
        long calls = Long.parseLong(arguments[0]);
        int threads = Integer.parseInt(arguments[1]);
        int rounds = Integer.parseInt(arguments[2]);
        for (int half = 0; half < 2; half++) {
            for (int round = 0; round < rounds; round++) System.out.println(round(calls, threads));
            System.out.println("end " + ProcessHandle.current().pid());
            System.out.flush();
            System.in.read();
        }
    }
}
