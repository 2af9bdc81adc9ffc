import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Calls an empty method, with an argument or without, in a hot loop on some threads. After each round it prints the CPU
 * time of a call in nanoseconds, as the mean over the threads. After the first half of the rounds it prints a line and
 * waits for one.
 */
public class Calls {
    static final ThreadMXBean TIMES = ManagementFactory.getThreadMXBean();

    static void empty() {}

    static void number(int value) {}

    static void text(String value) {}

    static long loop(String method, long calls) {
        long start = TIMES.getCurrentThreadCpuTime();
        switch (method) {
            case "number":
                for (long i = 0; i < calls; i++) number((int) i);
                break;
            case "text":
                for (long i = 0; i < calls; i++) text("order 17");
                break;
            default:
                for (long i = 0; i < calls; i++) empty();
        }
        return TIMES.getCurrentThreadCpuTime() - start;
    }

    static double round(String method, long calls, int count) throws InterruptedException {
        long[] times = new long[count];
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            int place = i;
            threads[i] = new Thread(() -> times[place] = loop(method, calls));
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
        String method = arguments[3];
        for (int half = 0; half < 2; half++) {
            for (int round = 0; round < rounds; round++) System.out.println(round(method, calls, threads));
            System.out.println("end " + ProcessHandle.current().pid());
            System.out.flush();
            System.in.read();
        }
    }
}
