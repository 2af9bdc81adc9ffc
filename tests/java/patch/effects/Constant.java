/** Values that are set once. */
public class Constant {
    static final int LIMIT = 10;
    static int start = 1;

    public static String answer() {
        return "limit " + LIMIT + " start " + start;
    }
}
