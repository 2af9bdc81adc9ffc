import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/** Calls methods of each shape, and prints their results. With an argument it does so for each line of input. */
public class Shop {
    interface Greeter {
        default String greet(String name) {
            return "hello " + name;
        }
    }

    static class Polite implements Greeter {}

    static class Generic<T> implements Comparable<Generic<T>> {
        @Override
        public int compareTo(Generic<T> other) {
            return 3;
        }
    }

    private final String name;

    Shop(String name) {
        if (name.isEmpty()) throw new IllegalArgumentException("no name");
        this.name = name;
    }

    @Override
    public String toString() {
        return "shop " + name;
    }

    long add(byte a, short b, char c, int d, long e, float f, double g, boolean h, String i) {
        return a + b + c + d + e + (long) f + (long) g + (h ? 1 : 0) + i.length();
    }

    static double half(double value) {
        return value / 2;
    }

    static int[] pair(int value) {
        return new int[] {value, value};
    }

    void nothing() {}

    String fail(String text) throws IOException {
        throw new IOException(text);
    }

    int depth(int left) {
        return left == 0 ? 0 : 1 + depth(left - 1);
    }

    static int changed(int value) {
        value = value + 1;
        return value;
    }

    static String all() {
        Shop shop = new Shop("x");
        String text = shop.add((byte) 1, (short) 2, 'c', 4, 5L, 6f, 7d, true, "nine") + " " + half(5) + " " + pair(2).length;
        shop.nothing();
        try {
            shop.fail("full");
        } catch (IOException expected) {
            text += " " + expected.getMessage();
        }
        try {
            new Shop("");
        } catch (IllegalArgumentException expected) {
            text += " " + expected.getMessage();
        }
        Comparable<Generic<String>> one = new Generic<>();
        return text + " " + shop.depth(3) + " " + new Polite().greet("ann") + " " + one.compareTo(new Generic<>()) + " " + changed(1);
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println(arguments.length == 0 ? all() : "up");
        if (arguments.length == 0) return;
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        while (input.readLine() != null) System.out.println(all());
    }
}
