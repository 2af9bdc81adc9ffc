import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/** A program for Java 8 that prints "up", then answers each line of its standard input, until that ends. */
public class Eight {
    interface Named {
        default String name() { return getClass().getSimpleName(); }
    }

    static class Counter implements Named {
        private int count;

        synchronized int next(boolean twice) {
            if (twice) count++;
            return ++count;
        }

        void never() { count = 0; }
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Counter counter = new Counter();
        System.out.println("up");
        for (String line = in.readLine(); line != null; line = in.readLine())
            System.out.println(answer(line, counter));
    }

    static String answer(String line, Counter counter) {
        try {
            switch (line) {
                case "name": return counter.name();
                case "next": return "next " + counter.next(false);
                case "sum": return "sum " + sum(5);
                default: throw new IllegalArgumentException(line);
            }
        } catch (IllegalArgumentException unknown) {
            return "what is " + unknown.getMessage() + "?";
        } finally {
            counter.next(line.isEmpty());
        }
    }

    static int sum(int limit) {
        List<IntSupplier> all = new ArrayList<>();
        for (int i = 0; i < limit; i++) {
            int number = i;
            all.add(() -> number % 2 == 0 ? number : 0);
        }
        return all.stream().mapToInt(IntSupplier::getAsInt).sum();
    }
}
