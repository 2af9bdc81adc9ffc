import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** A class whose members are removed and reordered while objects and other classes still use them. */
public class Removed {
    static final List<Supplier<String>> HELD = new ArrayList<>();
    private String second = "two";
    int first = 1;

    String text() {
        return first + " " + second;
    }

    public static String answer() {
        String text = new Removed().text();
        return text;
    }
}
