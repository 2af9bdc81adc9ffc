// Conditions over several lines count line by line.
package targets;

public class LongConditions { // missed
    static boolean all(int a, int b, int c) {
        return a > 0 // branches 4/6
                && b > 0
                && c > 0;
    }

    static boolean some(int a, int b) {
        if (a > 0 // branches 1/4
                || b > 0) {
            return true; // covered
        }
        return false; // missed
    }

    public static void main(String[] arguments) {
        all(1, 1, 1); // covered
        all(1, 0, 1); // covered
        some(1, 0); // covered
    } // covered
}
