/** A nested class that compilers before release 11 give access to private members by numbered methods. */
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
