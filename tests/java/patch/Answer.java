/** The patched class; tests replace the word {@code original}. */
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
