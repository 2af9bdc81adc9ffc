import java.io.Closeable;

/** Calls whose values follow from their numbers. */
public class Events implements Closeable {
    long total;

    public static void main(String[] arguments) throws Exception {
        Thread other = new Thread(() -> calls(400), "other");
        other.start();
        other.join();
        calls(600);
        numbers((byte) -1, 'c', (short) -2, true, 3L, 1.5f, 2.5);
        try {
            refuse(null);
        } catch (IllegalStateException refused) {
            System.out.println(refused.getMessage());
        }
        try {
            stopped(1);
        } catch (ArithmeticException stopped) {
            System.out.println(stopped.getMessage());
        }
    }

    static void calls(int count) {
        Events events = new Events();
        long last = 0;
        for (int number = 0; number < count; number++) {
            last = events.add(number, "number " + number);
        }
        System.out.println(last);
    }

    @Override
    public void close() {}

    long add(int by, String why) {
        total += by;
        return total;
    }

    static double numbers(byte b, char c, short s, boolean z, long j, float f, double d) {
        return b + c + s + j + f + d + (z ? 1 : 0);
    }

    static void refuse(int[] unused) {
        throw new IllegalStateException("refused");
    }

    static int stopped(int by) {
        by = by - 1;
        return 7 / by;
    }
}
