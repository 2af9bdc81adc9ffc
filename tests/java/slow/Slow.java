import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

/**
 * {@code Slow platform|virtual}: two workers, each of which makes slow calls until standard input ends. A slow call has short and
 * long callees, waits for a monitor, in {@code Object.wait} and for a lock, and collects garbage; every other one throws.
 */
final class Slow {
    /** The monitor of a worker. */
    static final class Monitor {
    }

    /** Holds the monitor or the lock of a worker while the worker waits for it. */
    static final class Holder implements Runnable {
        private final Semaphore asked = new Semaphore(0);
        private final Semaphore taken = new Semaphore(0);
        private final Work work;
        private final boolean ofMonitor;

        Holder(Work work, String name, boolean ofMonitor) {
            this.work = work;
            this.ofMonitor = ofMonitor;
            Thread thread = new Thread(this, name);
            thread.setDaemon(true);
            thread.start();
        }

        /** Lets another thread take the monitor or the lock. */
        void take() {
            asked.release();
            taken.acquireUninterruptibly();
        }

        @Override
        public void run() {
            while (true) {
                asked.acquireUninterruptibly();
                if (ofMonitor) {
                    synchronized (work.monitor) {
                        taken.release();
                        hold();
                    }
                } else {
                    work.lock.lock();
                    taken.release();
                    hold();
                    work.lock.unlock();
                }
            }
        }

        /** Continues for a while after the worker has begun to wait. */
        private void hold() {
            while (ofMonitor ? work.thread.getState() != Thread.State.BLOCKED : !work.lock.hasQueuedThreads()) {
                pause(1);
            }
            pause(work.millis);
        }
    }

    /** The work of a worker. The methods of this class are traced. */
    static final class Work {
        final Object monitor = new Monitor();
        final ReentrantLock lock = new ReentrantLock();
        volatile Thread thread;
        /** Duration of each wait; it grows with each call, so that a busy machine records it at last. */
        volatile long millis = 20;

        void outer(String worker, boolean fails) {
            for (int call = 0; call < 50; call++) {
                brief(call);
            }
            lasting();
            enter();
            notified();
            locked();
            System.gc();
            if (fails) {
                throw new IllegalStateException(worker);
            }
        }

        int brief(int call) {
            return call + 1;
        }

        void lasting() {
            pause(millis);
        }

        void enter() {
            synchronized (monitor) {
                brief(0);
            }
        }

        void notified() {
            Object nobody = new Object();
            synchronized (nobody) {
                try {
                    nobody.wait(millis);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }

        void locked() {
            lock.lock();
            lock.unlock();
        }

        /** Another thread calls it all the time. */
        void elsewhere() {
            pause(5);
        }
    }

    static volatile boolean ends;

    static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void work(String name) {
        Work work = new Work();
        work.thread = Thread.currentThread();
        Holder monitor = new Holder(work, "monitor-of-" + name, true);
        Holder lock = new Holder(work, "lock-of-" + name, false);
        boolean fails = false;
        while (!ends) {
            monitor.take();
            lock.take();
            try {
                work.outer(name, fails);
            } catch (IllegalStateException e) {
                // as configured
            }
            fails = !fails;
            work.millis = Math.min(2 * work.millis, 2_000);
        }
    }

    static Thread start(boolean isVirtual, String name) throws Exception {
        Runnable body = () -> work(name);
        if (isVirtual) {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
        }
        Thread thread = new Thread(body, name);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws Exception {
        boolean isVirtual = args[0].equals("virtual");
        Work other = new Work();
        Thread noise = new Thread(() -> {
            while (!ends) {
                other.elsewhere();
            }
        }, "noise");
        noise.start();
        Thread one = start(isVirtual, "one");
        Thread two = start(isVirtual, "two");
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // runs until the end
        }
        ends = true;
        one.join();
        two.join();
        noise.join();
    }
}
