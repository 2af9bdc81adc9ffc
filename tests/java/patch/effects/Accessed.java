/** A nested class with access to private members, through numbered methods if the compiler is older than release 11. */
public class Accessed {
    private static String one = "one";
    private static String two = "two";

    static class Inner {
        String both() {
            return one + " " + two;
        }
    }

    public static String answer() {
        return new Inner().both();
    }
}
