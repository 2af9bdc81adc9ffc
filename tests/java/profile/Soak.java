import java.util.concurrent.atomic.AtomicLong;

/** Causes events for the given seconds, as fast as it can, with the given threads of each kind, and prints their numbers. */
public final class Soak {
    static final class Oops extends Exception {}

    static final class Gate {}

    static final class Unit {
        long[] content = new long[3];
    }

    static final AtomicLong thrown = new AtomicLong();
    static final AtomicLong allocated = new AtomicLong();
    static final AtomicLong waited = new AtomicLong();
    static final AtomicLong started = new AtomicLong();
    static volatile boolean over;
    static volatile Object sink;

    public static void main(String[] args) throws Exception {
        long seconds = Long.parseLong(args[0]);
        int each = Integer.parseInt(args[1]);
        Thread[] all = new Thread[each * 4];
        for (int i = 0; i < all.length; i++) {
            int kind = i % 4;
            all[i] = new Thread(() -> work(kind), "worker-" + kind);
            all[i].start();
        }
        Thread.sleep(seconds * 1000);
        over = true;
        for (Thread thread : all) {
            thread.join();
        }
        System.out.println("thrown " + thrown + " allocated " + allocated + " waited " + waited + " started " + started);
    }

    static void work(int kind) {
        Gate gate = new Gate();
        while (!over) {
            for (int i = 0; i < 1000; i++) {
                switch (kind) {
                    case 0 -> {
                        try {
                            throw new Oops();
                        } catch (Oops expected) {
                            thrown.incrementAndGet();
                        }
                    }
                    case 1 -> {
                        sink = new Unit();
                        allocated.incrementAndGet();
                    }
                    case 2 -> {
                        synchronized (gate) {
                            try {
                                gate.wait(0, 1);
                            } catch (InterruptedException never) {
                                throw new AssertionError(never);
                            }
                            waited.incrementAndGet();
                        }
                    }
                    default -> {
                        Thread thread = new Thread(() -> { }, "short");
                        started.incrementAndGet();
                        thread.start();
                        try {
                            thread.join();
                        } catch (InterruptedException never) {
                            throw new AssertionError(never);
                        }
                    }
                }
                if (over) {
                    return;
                }
            }
        }
    }
}
