/** A class that gets nested, local and anonymous classes. */
public class Nested {
    private int count = 1;
    private static int total = 10;

    static class Kept {
        private final String own = "own";
    }

    String text() {
        return "old " + count + new Kept().own;
    }

    public static String answer() {
        return new Nested().text();
    }
}
