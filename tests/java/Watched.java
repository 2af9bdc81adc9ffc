import java.io.Closeable;

/** Methods that are entered and left in every way; the rewritten class prints each of these events. */
public class Watched {
    private final int size;

    static void note(String what) {
        System.out.println(what);
    }

    static void notice(String what, Object value) {
        System.out.println(what + " " + value);
    }

    static void fails(String what, Throwable thrown) {
        System.out.println(what + " " + thrown.getMessage());
    }

    Watched(int size) {
        this(size > 2 ? "much" : "little", size);
    }

    Watched(String how, int size) {
        super();
        if (size < 0) {
            throw new IllegalArgumentException(how + size);
        }
        this.size = size;
    }

    /** Its own handler goes first. */
    static int caught(int depth) {
        try {
            return deeper(depth);
        } catch (IllegalStateException own) {
            System.out.println("own handler " + own.getMessage());
            return -1;
        } finally {
            System.out.println("own finally");
        }
    }

    static int deeper(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("bottom");
        }
        if (depth > 3) {
            throw new UnsupportedOperationException("too deep");
        }
        return deeper(depth - 1) + 1;
    }

    synchronized long counted(long times) {
        long sum = 0;
        for (int i = 0; i < times; i++) {
            sum += size;
            while (sum > 100) {
                sum -= 50;
            }
        }
        return sum;
    }

    String locked(Object lock, String text) {
        synchronized (lock) {
            if (text == null) {
                throw new NullPointerException("no text");
            }
            return text + size;
        }
    }

    static double fraction(double of, Closeable closed) throws Exception {
        try (closed) {
            return of / 4;
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println(caught(0));
        System.out.println(caught(2));
        try {
            caught(4);
        } catch (UnsupportedOperationException expected) {
            System.out.println("main caught " + expected.getMessage());
        }
        System.out.println(new Watched(3).counted(2));
        try {
            new Watched(-1);
        } catch (IllegalArgumentException expected) {
            System.out.println("main caught " + expected.getMessage());
        }
        Object lock = new Object();
        try {
            new Watched(1).locked(lock, null);
        } catch (NullPointerException expected) {
            System.out.println("free " + !Thread.holdsLock(lock));
        }
        System.out.println(new Watched(1).locked(lock, "a"));
        System.out.println(fraction(3, () -> System.out.println("closed")));
    }
}
