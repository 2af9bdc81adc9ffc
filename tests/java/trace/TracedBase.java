import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The base of a generated class {@code Traced}: threads that call it, and the log of each of them.
 *
 * <p>A line is {@code E call method mark depth} for an entry, {@code X call method mark result} for an end, and
 * {@code F call method mark class} for an end by an exception. The mark is the number last read from standard input.
 */
abstract class TracedBase {
    /** The most calls of one start. */
    private static final int FUEL = 150;

    private static final AtomicLong CALLS = new AtomicLong();
    private static final AtomicLong STARTS = new AtomicLong();
    private static final List<Log> LOGS = new ArrayList<>();
    private static final ThreadLocal<Log> LOG = ThreadLocal.withInitial(Log::new);
    private static volatile int mark;
    private static volatile boolean stop;

    static class Error0 extends RuntimeException {}

    static class Error1 extends RuntimeException {}

    static class Error2 extends RuntimeException {}

    /** A call that has begun, or will begin. */
    private static final class Call {
        final long number;
        final String name;
        final int depth;

        Call(long number, String name, int depth) {
            this.number = number;
            this.name = name;
            this.depth = depth;
        }
    }

    /** The events of one thread. */
    private static final class Log {
        final Thread thread = Thread.currentThread();
        final List<String> lines = new ArrayList<>();
        /** Running constructors before the end of their {@code super()}. */
        final Deque<Call> pending = new ArrayDeque<>();
        /** Running constructors after it. */
        final Deque<Call> open = new ArrayDeque<>();

        int fuel;

        Log() {
            synchronized (LOGS) {
                LOGS.add(this);
            }
        }

        void add(String kind, long call, String name, Object what) {
            lines.add(kind + " " + call + " " + name + " " + mark + " " + what);
        }
    }

    abstract long start(int which, int depth);

    static boolean spent(int depth) {
        return depth <= 0 || LOG.get().fuel-- <= 0;
    }

    static long enter(String name, int depth) {
        long call = CALLS.incrementAndGet();
        LOG.get().add("E", call, name, depth);
        return call;
    }

    static long leave(long call, String name, long result) {
        LOG.get().add("X", call, name, result);
        return result;
    }

    static RuntimeException fail(long call, String name, RuntimeException e) {
        LOG.get().add("F", call, name, e.getClass().getName());
        return e;
    }

    static long newCall(String name, int depth) {
        long call = CALLS.incrementAndGet();
        LOG.get().pending.push(new Call(call, name, depth));
        return call;
    }

    static void entered(String name) {
        Log log = LOG.get();
        Call call = log.pending.pop();
        check(call.name, name);
        log.open.push(call);
        log.add("E", call.number, name, call.depth);
    }

    static void superLeft(String name) {
        Log log = LOG.get();
        Call call = log.open.pop();
        check(call.name, name);
        log.add("X", call.number, name, "");
    }

    static int[] open() {
        return new int[] {LOG.get().pending.size(), LOG.get().open.size()};
    }

    static RuntimeException constructorFailed(int[] before, RuntimeException e) {
        Log log = LOG.get();
        while (log.pending.size() > before[0]) {
            log.pending.pop();
        }
        while (log.open.size() > before[1]) {
            Call call = log.open.pop();
            log.add("F", call.number, call.name, e.getClass().getName());
        }
        return e;
    }

    static void pause() {
        LockSupport.parkNanos(1_000);
    }

    private static void check(String found, String expected) {
        if (!found.equals(expected)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }

    static void run(TracedBase traced, String[] args) throws Exception {
        int platform = Integer.parseInt(args[1]);
        int virtual = Integer.parseInt(args[2]);
        int rounds = Integer.parseInt(args[3]);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < platform + virtual; i++) {
            int first = i;
            Runnable work = () -> work(traced, first, rounds);
            if (i < platform) {
                Thread thread = new Thread(work, "platform-" + i);
                thread.start();
                threads.add(thread);
            } else {
                threads.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work));
            }
        }
        if (rounds == 0) {
            obey();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        try (PrintStream out = new PrintStream(args[0])) {
            for (Log log : LOGS) {
                out.println("T " + log.thread.getId());
                log.lines.forEach(out::println);
            }
        }
    }

    private static void work(TracedBase traced, int first, int rounds) {
        for (int round = 0; rounds == 0 ? !stop : round < rounds; round++) {
            LOG.get().fuel = FUEL;
            STARTS.incrementAndGet();
            try {
                traced.start(first + round, 9);
            } catch (RuntimeException e) {
                // the log has the exception
            }
            if (rounds == 0) {
                LockSupport.parkNanos(2_000_000);
            }
        }
    }

    /** Reads marks from standard input until it ends. Each is answered when the threads have worked under it. */
    private static void obey() throws Exception {
        System.out.println("up");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            mark = Integer.parseInt(line);
            long until = STARTS.get() + 60;
            while (STARTS.get() < until) {
                LockSupport.parkNanos(1_000_000);
            }
            System.out.println("marked " + line);
        }
        stop = true;
    }
}
