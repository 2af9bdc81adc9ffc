import java.util.function.Supplier;

/** Compiled with `javac --release 8 -g` into the class file beside it. */
class Traced implements Supplier<String> {
    static final int[] NUMBERS = {1};

    private int value;

    @Deprecated
    Traced(int value) {
        this.value = value;
    }

    int value() {
        return value;
    }

    void value(int value) {
        this.value = value;
    }

    static int[] numbers() {
        return NUMBERS;
    }

    @Override
    public String get() {
        Supplier<String> lambda = () -> "v" + value;
        return lambda.get();
    }

    @Deprecated
    long find(String name, int[] in, double scale) {
        return name.length() + in.length;
    }

    native long find(long id);

    class Inner {
        int twice() {
            return 2 * value;
        }
    }
}
