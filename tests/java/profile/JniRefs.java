import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;

/** Creates global JNI references and deletes some, on orders; knows their number. */
public class JniRefs {
    static class Kept {}

    static class Weakly {}

    static class Freed {}

    static class Early {}

    static native long hold(Object object);

    static native void release(long reference);

    static native long holdWeakly(Object object);

    static native void releaseWeak(long reference);

    static native void holdAndThrow(Object object, Throwable thrown);

    static native void holdOnThread(long reference);

    static native void wrap();

    static native void unwrap();

    static native long wrapped();

    static native int places(long[] places);

    static final Weakly weakly = new Weakly();
    static long[] early = new long[0];

    /** 700 references that are never deleted. */
    static void leak() {
        Kept kept = new Kept();
        for (int i = 0; i < 700; i++) {
            hold(kept);
        }
    }

    /** 500 references that are deleted, and 30 that are not. */
    static void free() {
        Freed freed = new Freed();
        long[] held = new long[500];
        for (int i = 0; i < held.length; i++) {
            held[i] = hold(freed);
        }
        Arrays.stream(held).forEach(JniRefs::release);
        for (int i = 0; i < 30; i++) {
            hold(freed);
        }
    }

    /** 40 weak references, of which 15 are deleted. */
    static void weak() {
        for (int i = 0; i < 40; i++) {
            long reference = holdWeakly(weakly);
            if (i < 15) {
                releaseWeak(reference);
            }
        }
    }

    static void fail() {
        try {
            holdAndThrow(weakly, new IllegalStateException("stays"));
            throw new AssertionError("no exception");
        } catch (IllegalStateException expected) {
            if (!"stays".equals(expected.getMessage())) {
                throw expected;
            }
        }
    }

    /** Several threads create and delete references at the same time, so that handles are reused. */
    static void race() throws Exception {
        Thread[] threads = new Thread[4];
        for (int at = 0; at < threads.length; at++) {
            threads[at] = new Thread(() -> {
                for (int i = 0; i < 5_000; i++) {
                    release(hold(weakly));
                }
                hold(weakly);
            }, "racer");
            threads[at].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static void all() throws Exception {
        leak();
        free();
        weak();
        fail();
        race();
        holdOnThread(early.length == 0 ? hold(weakly) : early[0]);
    }

    static String order(String order) throws Exception {
        switch (order) {
            case "early":
                early = new long[] {hold(new Early()), hold(new Early()), holdWeakly(weakly)};
                return "created";
            case "late":
                release(early[1]);
                releaseWeak(early[2]);
                return "deleted";
            case "wrap":
                wrap();
                return "in front";
            case "unwrap":
                unwrap();
                return "taken out";
            case "wrapped":
                return Long.toString(wrapped());
            case "places":
                long[] found = new long[4];
                places(found);
                return Arrays.toString(found);
            case "many":
                for (int i = 0; i < (1 << 20) + 1_000; i++) {
                    hold(weakly);
                }
                return "many";
            case "hold":
                hold(weakly);
                return "held";
            default:
                all();
                return "done";
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        if (arguments.length > 1) {
            for (int at = 1; at < arguments.length; at++) {
                System.out.println(order(arguments[at]));
            }
            return;
        }
        System.out.println("up");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(order(line));
        }
    }
}
