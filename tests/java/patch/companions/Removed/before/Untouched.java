import java.util.function.Supplier;

/** Uses members of a class outside a patch. */
public class Untouched {
    public static String answer() {
        StringBuilder text = new StringBuilder(Removed.also());
        for (Supplier<String> held : Removed.HELD) {
            text.append(' ').append(held.get());
        }
        return text.toString();
    }
}
