import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.zip.Deflater;

/** Native methods of every kind. Executes orders as `Servant` does. */
public class NativeCalls {
    static native int twice(int number);

    native long plus(long number, Object text);

    synchronized native int locked(int number);

    static native void fails();

    /** Calls {@link #up} with one less. */
    native int back(int depth);

    /** Never called while it is traced. */
    static native int late(int number);

    int up(int depth) {
        return depth == 0 ? 0 : 1 + back(depth);
    }

    /** A native method without an implementation. */
    static native void missing();

    String round() {
        long sum = up(3);
        for (int i = 0; i < 100; i++) {
            sum += twice(i) + plus(i, "text") + locked(i);
            if (i % 10 == 0) {
                try {
                    fails();
                } catch (IllegalStateException expected) {
                    sum++;
                }
            }
        }
        try {
            missing();
        } catch (UnsatisfiedLinkError expected) {
            sum++;
        }
        return "sum " + sum;
    }

    static String deflate() {
        Deflater deflater = new Deflater();
        deflater.setInput(new byte[10_000]);
        deflater.finish();
        int length = deflater.deflate(new byte[1_000]);
        deflater.end();
        return "deflated " + (length > 0);
    }

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        NativeCalls calls = new NativeCalls();
        System.out.println("up");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String order; (order = input.readLine()) != null; ) {
            switch (order) {
                case "round": System.out.println(calls.round()); break;
                case "deflate": System.out.println(deflate()); break;
                case "late": System.out.println("late " + late(20)); break;
                default: System.out.println("?");
            }
        }
    }
}
