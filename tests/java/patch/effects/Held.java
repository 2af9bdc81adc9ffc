import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Holds lambdas that were created once. */
public class Held {
    static List<Supplier<String>> held;

    static void fill() {
        held = new ArrayList<>();
        held.add(() -> "first");
        held.add(() -> "second");
        held.add(() -> "third");
    }

    public static String answer() {
        if (held == null) {
            fill();
        }
        StringBuilder text = new StringBuilder();
        for (Supplier<String> lambda : held) {
            text.append(lambda.get()).append(' ');
        }
        return text.toString().trim();
    }
}
