import java.util.ArrayList;
import java.util.List;

/** Causes events in known numbers, and prints the numbers. */
public class Told {
    static final int ARRAYS = 20_000;
    static final int KEPT = 1_000;
    static final int BLOCKED = 4;
    static final Object LOCK = new Object();
    static final List<Object> kept = new ArrayList<>(KEPT);
    static volatile Object sink;

    static class Oops extends RuntimeException {}

    static class Caught extends Exception {}

    /** A monitor of a class of its own. */
    static class Gate {}

    static void allocate() {
        for (int i = 0; i < ARRAYS; i++) {
            long[][] array = new long[7][];
            if (i < KEPT) {
                kept.add(array);
            }
            sink = array;
        }
    }

    static void thrower(int times) {
        for (int i = 0; i < times; i++) {
            try {
                if (i % 2 == 0) {
                    throw new Oops();
                }
                throw new Caught();
            } catch (Oops | Caught e) {
                sink = e;
            }
        }
    }

    static void enter(Gate gate) {
        synchronized (gate) {
            sink = gate;
        }
    }

    /** Lets another thread wait for a monitor that this one holds. Returns the least time of the wait, in nanoseconds. */
    static long block() throws Exception {
        Gate gate = new Gate();
        Thread other = new Thread(() -> enter(gate), "blocked");
        long begun;
        synchronized (gate) {
            other.start();
            while (other.getState() != Thread.State.BLOCKED) {
                Thread.onSpinWait();
            }
            Thread.sleep(5); // it is blocked before the JVM tells so
            begun = System.nanoTime();
            Thread.sleep(20);
            begun = System.nanoTime() - begun;
        }
        other.join();
        return begun;
    }

    /** Waits for the monitor of a class. */
    static synchronized void waitForClass() throws Exception {
        Told.class.wait(20);
    }

    /** Binds a native method, requests more memory than any JVM has, and runs a virtual thread. */
    static void rare() throws Exception {
        sink = java.util.TimeZone.getDefault();
        try {
            sink = new int[Integer.MAX_VALUE];
        } catch (OutOfMemoryError e) {
            sink = e;
        }
        try {
            Runnable nothing = () -> {};
            Object started = Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, nothing);
            ((Thread) started).join();
        } catch (NoSuchMethodException before21) {
            sink = before21;
        }
    }

    /** A fixed amount of work, not of time: on a busy machine it gets little CPU time. */
    static void spins() {
        for (int i = 0; i < 50_000; i++) {
            sink = spin(10_000);
        }
    }

    static long spin(long turns) {
        long x = 1;
        for (long i = 0; i < turns; i++) {
            x = x * 31 + (x >>> 7);
        }
        return x;
    }

    public static void main(String[] arguments) throws Exception {
        // The JVM drew the next sample of this thread at its start, with the interval of that time.
        for (int i = 0; i < 64; i++) {
            sink = new byte[1 << 20];
        }
        allocate();
        thrower(1_000);
        long blocked = 0;
        for (int i = 0; i < BLOCKED; i++) {
            blocked += block();
        }
        Gate waited = new Gate();
        synchronized (waited) {
            waited.wait(20);
            waited.wait(20);
        }
        waitForClass();
        System.gc();
        rare();
        Thread spinner = new Thread(Told::spins, "spinner");
        spinner.start();
        spinner.join();
        System.out.println("arrays " + ARRAYS + " kept " + kept.size() + " blocked " + BLOCKED + " " + blocked);
    }
}
