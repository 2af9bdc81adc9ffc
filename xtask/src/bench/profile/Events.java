import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;

/**
 * Causes events of the kind that its first argument names, {@code DEPTH} calls deep. For each line with a number on
 * standard input it causes so many, and prints the CPU time that all threads of Java took until half a second after them,
 * in nanoseconds: the thread that records is one, and reads them within that time. Compilers and collectors are none.
 */
public class Events {
    static final int DEPTH = 30;
    /** Kept for ever, so that no stack trace is made for it. */
    static final RuntimeException THROWN = new RuntimeException("thrown", null, false, false) {};

    static volatile Object sink;

    public static void main(String[] arguments) throws Exception {
        Runnable event = switch (arguments[0]) {
            case "allocations" -> () -> sink = new long[3];
            case "exceptions" -> Events::throwAndCatch;
            case "monitors" -> Events::await;
            case "contention" -> new Contention()::enter;
            case "collections" -> System::gc;
            default -> throw new IllegalArgumentException(arguments[0]);
        };
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        System.out.println("serving");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int count = Integer.parseInt(line);
            long begun = cpuTime();
            deep(DEPTH, event, count);
            Thread.sleep(500);
            System.out.println(cpuTime() - begun);
        }
        System.exit(0);
    }

    static long cpuTime() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return LongStream.of(threads.getAllThreadIds()).map(threads::getThreadCpuTime).sum();
    }

    static void deep(int depth, Runnable event, int count) {
        if (depth > 0) {
            deep(depth - 1, event, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            event.run();
        }
    }

    static void throwAndCatch() {
        try {
            throw THROWN;
        } catch (RuntimeException caught) {
            sink = caught;
        }
    }

    /** Has another thread, as deep, wait to enter a monitor that this one holds, and enter it. */
    static class Contention {
        final Object monitor = new Object();
        final Thread other = new Thread(() -> deep(DEPTH, this::follow, 1), "other");
        volatile boolean wanted;

        Contention() {
            other.setDaemon(true);
            other.start();
        }

        void enter() {
            synchronized (monitor) {
                wanted = true;
                LockSupport.unpark(other);
                until(() -> other.getState() == Thread.State.BLOCKED);
            }
            until(() -> !wanted);
        }

        /** Looks rarely, as on a busy machine the other thread may not run for long. */
        static void until(BooleanSupplier holds) {
            for (long nanos = 20_000; !holds.getAsBoolean(); nanos *= 2) {
                LockSupport.parkNanos(nanos);
            }
        }

        void follow() {
            while (true) {
                while (!wanted) {
                    LockSupport.park();
                }
                synchronized (monitor) {
                    wanted = false;
                }
            }
        }
    }

    /** Waits for a moment that is over at once. */
    static void await() {
        synchronized (THROWN) {
            try {
                THROWN.wait(0, 1);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        }
    }
}
