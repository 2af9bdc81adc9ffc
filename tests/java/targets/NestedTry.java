// A `try` in a `finally`, and a handler that throws again.
package targets;

public class NestedTry { // missed
    static int nested(String text) {
        int result = 0; // covered
        try {
            result = Integer.parseInt(text); // covered
        } finally {
            try {
                result++; // covered
            } catch (RuntimeException never) { // missed
                result = -1; // missed
            } // covered
        }
        return result; // covered
    }

    static void again() {
        try {
            nested("x"); // missed
        } catch (NumberFormatException error) { // covered
            throw new IllegalStateException(error); // covered
        } // missed
    } // missed

    public static void main(String[] arguments) {
        nested("1"); // covered
        try {
            again(); // missed
        } catch (IllegalStateException expected) { // covered
            nested("2"); // covered
        } // missed
    } // covered
}
