package classhook.runtime;

import java.io.File;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Writes what the shutdown hooks of the application execute, up to the end of the last one.
 *
 * <p>A JVM runs all hooks side by side and waits for them. Then it deletes the files of {@link File#deleteOnExit}, for
 * which it enters the monitor of {@code java.io.DeleteOnExitHook}. A thread of ours holds this monitor, so it learns
 * that the last hook has ended, and the JVM waits until everything is written.
 */
final class ShutdownHook extends Thread {
    /** The class whose monitor the JVM enters after the last hook; null if this JVM has none. */
    private static final Class<?> GATE = gate();
    /** Time that another copy of the runtime may hold the monitor before the hook ends without it. */
    private static final long PATIENCE_MS = 50;
    /** Time between two looks at the JVM, at first and after long hooks. */
    private static final long SHORTEST_MS = 1;
    private static final long LONGEST_MS = 20;
    /** Time after which the monitor is free for a moment, for virtual threads that wait for it. */
    private static final long LONG_MS = 1000;

    private final ThreadGroup group;
    private final SnapshotWriter writer;
    private final CountDownLatch held = new CountDownLatch(1);
    /** The thread in which the JVM runs its shutdown: it starts the hooks. */
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

    /** Waits for a thread that needs the monitor. Null stands for one that may be there and cannot be found. */
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

    /** Waits until the thread has entered the monitor, which is free now. */
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
            // the application interrupts every thread: this one goes on
        }
    }

    /** A thread, maybe that of a hook, that waits in {@link File#deleteOnExit}. */
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

    /** Holds the monitor beside the hook. */
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
