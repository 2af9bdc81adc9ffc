/** The class that is patched; tests put other words in the place of {@code original}. */
public class Answer {
    static int asked;

    public static String value() {
        asked++;
        return "original";
    }

    static int same(int number) {
        return number;
    }
}
