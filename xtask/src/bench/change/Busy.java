import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import load.Load;

/**
 * Calls every method of the classes of {@code load} as fast as it can. Prints the number of rounds every ten
 * milliseconds, with the nanoseconds of CPU time that they took.
 */
public final class Busy {
    static volatile long rounds;

    public static void main(String[] arguments) throws Exception {
        Thread worker = new Thread(() -> {
            int sum = 0;
            while (true) {
                for (int call = 0; call < 16; call++) {
                    sum = Load.all(sum);
                }
                rounds = rounds + 16 + (sum >>> 31 >>> 1);
            }
        });
        worker.setDaemon(true);
        worker.start();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long id = worker.getId();
        while (true) {
            System.out.println(rounds + " " + threads.getThreadCpuTime(id));
            Thread.sleep(10);
        }
    }
}
