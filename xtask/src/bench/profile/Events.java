import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;

/**
 * Causes events of the kind that its first argument names, {@code DEPTH} calls deep. Each line of standard input is a
 * number of events. For each line it prints the CPU time of all Java threads until half a second after the events, in
 * nanoseconds. These threads include the recording one, which reads the events within that time, but no compilers and
 * collectors.
 */
public class Events {
    static final int DEPTH = 30;
    /** Preallocated, so that no stack trace is filled in. */
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

    /** Lets another thread, at the same depth, wait for a monitor that this thread holds, and then enter it. */
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

        /** Polls with growing pauses, since on a busy machine the other thread may not run for long. */
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

    /** Waits for the shortest possible time. */
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
