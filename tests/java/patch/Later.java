/** A class that a program loads on request. */
public class Later {
    static String word() {
        return "original";
    }

    static int same(int number) {
        return number;
    }

    public static String answer() {
        return word();
    }
}
