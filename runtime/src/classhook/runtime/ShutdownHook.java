package classhook.runtime;

import java.io.File;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Writes the hits of the application's shutdown hooks, up to the end of the last one.
 *
 * <p>A JVM runs all hooks in parallel and waits for them. Then it deletes the files of {@link
 * File#deleteOnExit}, for which it enters the monitor of {@code java.io.DeleteOnExitHook}. A thread of this
 * class holds the monitor, so it detects the end of the last hook, and the JVM waits until all hits are written.
 */
final class ShutdownHook extends Thread {
    /** The class whose monitor the JVM enters after the last hook; null if this JVM has no such class. */
    private static final Class<?> GATE = gate();
    /** Maximum time that another copy of the runtime may hold the monitor before this hook ends without it. */
    private static final long PATIENCE_MS = 50;
    /** Interval between two checks of the JVM, at first and after long hooks. */
    private static final long SHORTEST_MS = 1;
    private static final long LONGEST_MS = 20;
    /** Time after which the monitor is released briefly for virtual threads that wait for it. */
    private static final long LONG_MS = 1000;

    private final ThreadGroup group;
    private final SnapshotWriter writer;
    private final CountDownLatch held = new CountDownLatch(1);
    /** The thread in which the JVM shuts down, which starts the hooks. */
    private volatile Thread shutdown;

    ShutdownHook(ThreadGroup group, SnapshotWriter writer) {
        super(group, null, "Classhook end");
        setDaemon(true);
        setContextClassLoader(null);
        this.group = group;
        this.writer = writer;
    }

    /** Initialising the class makes the JVM enter its monitor at the end. */
    private static Class<?> gate() {
        try {
            return Class.forName("java.io.DeleteOnExitHook");
        } catch (Throwable absent) {
            return null;
        }
    }

    @Override
    public void start() {
        shutdown = Thread.currentThread();
        super.start();
    }

    @Override
    public void run() {
        writer.end();
        if (GATE == null) {
            return;
        }
        writer.thread("Classhook end of hooks", new Gate(this)).start();
        try {
            held.await(PATIENCE_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException ignored) {
            // the application interrupts every thread; its hooks are recorded up to the last interval
        }
    }

    private void holdGate() {
        while (shutdown.isAlive()) {
            Thread next;
            synchronized (GATE) {
                held.countDown();
                next = awaitNext();
                writer.append();
            }
            if (next == shutdown) {
                return;
            }
            letPass(next);
        }
    }

    /** Waits for a thread that needs the monitor. Returns null if such a thread may exist but cannot be found. */
    private Thread awaitNext() {
        long begun = System.nanoTime();
        while (shutdown.isAlive()) {
            if (isBlocked(shutdown, "runHooks")) {
                return shutdown;
            }
            Thread other = threadInAdd();
            long waited = (System.nanoTime() - begun) / 1_000_000;
            if (other != null || waited > LONG_MS) {
                return other;
            }
            pause(Math.max(SHORTEST_MS, Math.min(LONGEST_MS, waited / 50)));
        }
        return shutdown;
    }

    /** Waits until the thread has entered the released monitor. */
    private static void letPass(Thread next) {
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < SHORTEST_MS * 1_000_000) {
            if (next != null && next.getState() != Thread.State.BLOCKED) {
                return;
            }
            Thread.yield();
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException ignored) {
            // the application interrupts every thread; this one continues
        }
    }

    /** Returns a thread, possibly that of a hook, that waits in {@link File#deleteOnExit}. */
    private Thread threadInAdd() {
        Thread[] threads = new Thread[group.activeCount() + 16];
        int count = group.enumerate(threads);
        for (int index = 0; index < count; index++) {
            if (isBlocked(threads[index], "add")) {
                return threads[index];
            }
        }
        return null;
    }

    private static boolean isBlocked(Thread thread, String method) {
        if (thread.getState() != Thread.State.BLOCKED) {
            return false;
        }
        StackTraceElement[] stack = thread.getStackTrace();
        return stack.length > 0 && stack[0].getMethodName().equals(method)
            && stack[0].getClassName().equals(GATE.getName());
    }

    /** Holds the monitor in parallel to the hook. */
    private static final class Gate implements Runnable {
        private final ShutdownHook hook;

        Gate(ShutdownHook hook) {
            this.hook = hook;
        }

        @Override
        public void run() {
            hook.holdGate();
        }
    }
}
