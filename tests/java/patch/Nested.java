/** A class whose nested class uses its private members, for which compilers before Java 11 add methods. */
public class Nested {
    private static final class Inner {
        private String word = "original";

        private String said() {
            return word;
        }
    }

    private static int asked;

    public static String answer() {
        asked++;
        return new Inner().said();
    }
}
