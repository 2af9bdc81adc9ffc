/** Methods that branch within `synchronized`, called often enough to be compiled. */
public class Held {
    private static final Object OUTER = new Object();
    private static final Object INNER = new Object();

    static int block(int i) {
        synchronized (OUTER) {
            if (i % 3 == 0) return 1;
            int found = 0;
            for (int j = 0; j < i % 4; j++) found += j > 1 ? 2 : i;
            if (found > 5 && i % 2 == 0) return found;
            switch (i % 5) {
                case 0: return 3;
                case 1: found++; break;
                default: found--;
            }
            return found;
        }
    }

    static int nested(int i) {
        synchronized (OUTER) {
            try {
                synchronized (INNER) {
                    if (i % 7 == 0) throw new IllegalStateException();
                    return i % 2 == 0 ? block(i) : i;
                }
            } catch (IllegalStateException thrown) {
                return i > 10 ? 2 : 1;
            }
        }
    }

    public static void main(String[] arguments) {
        long sum = 0;
        for (int i = 0; i < 100_000; i++) sum += block(i) + nested(i);
        System.out.println("sum " + sum);
    }
}
