/** Three methods that take six, three and one parts of the CPU time, some seconds of it. */
public class Hot {
    static volatile double sink;

    static void heavy(long turns) {
        double sum = 0;
        for (long i = 1; i <= 6 * turns; i++) {
            sum += 1.0 / i;
        }
        sink = sum;
    }

    static void middle(long turns) {
        double sum = 0;
        for (long i = 1; i <= 3 * turns; i++) {
            sum += 1.0 / i;
        }
        sink = sum;
    }

    static void light(long turns) {
        double sum = 0;
        for (long i = 1; i <= turns; i++) {
            sum += 1.0 / i;
        }
        sink = sum;
    }

    public static void main(String[] arguments) {
        for (int i = 0; i < 3_000; i++) {
            heavy(100_000);
            middle(100_000);
            light(100_000);
        }
    }
}
