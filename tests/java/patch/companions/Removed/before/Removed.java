import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** A class whose members are removed and reordered while objects and other classes still use them. */
public class Removed {
    private int first = 1;
    private String second = "two";
    static final List<Supplier<String>> HELD = new ArrayList<>();

    private String gone(long wide, int number) {
        return "gone " + wide + number + second;
    }

    static String also() {
        return "also";
    }

    String text() {
        HELD.add(() -> gone(1L, 2) + first);
        HELD.add(Removed::also);
        return first + second + also();
    }

    public static String answer() {
        String text = new Removed().text();
        return text;
    }
}
