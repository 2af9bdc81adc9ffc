// `&&` and `||` have a branch for each operand.
package targets;

public class ShortCircuit { // missed
    static boolean and(boolean left, boolean right) {
        return left && right; // branches 3/4
    }

    static boolean or(boolean left, boolean right) {
        return left || right; // branches 2/4
    }

    static boolean strict(boolean left, boolean right) {
        return left & right; // covered
    }

    public static void main(String[] arguments) {
        and(true, true); // covered
        and(false, true); // covered
        or(false, false); // covered
        strict(true, false); // covered
    } // covered
}
