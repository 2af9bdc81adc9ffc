import java.lang.reflect.Method;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/**
 * Overflows the stack of a pool's thread repeatedly, in different ways, and answers a request after each.
 * Counts the calls of each method itself: {@code Overflows ROUNDS platform|virtual}.
 */
public class Overflows {
    private static final long[] CALLS = new long[6];

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        ExecutorService pool = Executors.newSingleThreadExecutor(factory(arguments[1]));
        for (int round = 0; round < rounds; round++) {
            int seed = round * 7919 + 17;
            pool.submit(() -> overflow(seed)).get();
            pool.submit(() -> request(seed)).get();
        }
        pool.shutdown();
        String[] names = {"once", "wide", "caught", "request", "step", "thrower"};
        for (int method = 0; method < names.length; method++) {
            System.out.println(names[method] + " " + CALLS[method]);
        }
    }

    private static ThreadFactory factory(String kind) throws Exception {
        if (kind.equals("platform")) {
            return task -> new Thread(null, task, "worker", 320 << 10);
        }
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Method factory = Class.forName("java.lang.Thread$Builder").getMethod("factory");
        return (ThreadFactory) factory.invoke(builder);
    }

    private static int overflow(int seed) {
        try {
            return once(seed);
        } catch (StackOverflowError expected) {
            return -1;
        }
    }

    private static int next(int seed) {
        return seed * 1_664_525 + 1_013_904_223;
    }

    private static int once(int seed) {
        CALLS[0]++;
        switch (seed >>> 29) {
            case 0:
                return wide(next(seed), seed, 1L, 2L, 3.0);
            case 1:
                return (seed >>> 20 & 255) == 0 ? caught(next(seed)) : once(next(seed));
            case 2:
                return step(seed) + once(next(seed));
            default:
                return once(next(seed)) + 1;
        }
    }

    /** Has a large frame, and calls a method while an exception leaves it. */
    private static int wide(int seed, int two, long three, long four, double five) {
        CALLS[1]++;
        long sum = three + four + two;
        try {
            return (seed & 1) == 0 ? once(next(seed)) : wide(next(seed), two + 1, sum, three, five);
        } finally {
            if ((seed & 6) == 0) {
                sum += step((int) five);
            }
        }
    }

    /** Continues where the stack has just overflowed. */
    private static int caught(int seed) {
        CALLS[2]++;
        try {
            return once(next(seed));
        } catch (StackOverflowError deep) {
            int sum = step(seed);
            try {
                return sum + thrower(seed);
            } catch (IllegalStateException expected) {
                return (seed & 1 << 8) == 0 ? once(next(seed)) : sum;
            }
        }
    }

    private static int thrower(int seed) {
        CALLS[5]++;
        throw new IllegalStateException("thrown " + seed);
    }

    private static int request(int seed) {
        CALLS[3]++;
        return step(seed) + step(seed + 1);
    }

    private static int step(int number) {
        CALLS[4]++;
        return number;
    }
}
