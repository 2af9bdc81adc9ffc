// Handlers that run and that do not; code that ends in an exception before a probe is missed.
package targets;

public class Catch { // missed
    static int caught(String text) {
        try {
            return Integer.parseInt(text); // covered
        } catch (NumberFormatException error) { // covered
            return -1; // covered
        }
    }

    static int several(Object object) {
        try {
            return ((String) object).length(); // covered
        } catch (ClassCastException | NullPointerException error) { // missed
            return -1; // missed
        }
    }

    static int implicit(int[] numbers) {
        int first = numbers[0]; // missed
        return first; // missed
    }

    public static void main(String[] arguments) {
        caught("1"); // covered
        caught("x"); // covered
        several(""); // covered
        try {
            implicit(new int[0]); // missed
        } catch (ArrayIndexOutOfBoundsException expected) { // covered
            caught("2"); // covered
        } // missed
    } // covered
}
