// Branches of `if`: both, one, and none taken.
package targets;

public class IfElse { // missed
    static int both(boolean flag) {
        if (flag) { // covered
            return 1; // covered
        } else {
            return 2; // covered
        }
    }

    static int one(boolean flag) {
        int result = 0; // covered
        if (flag) { // branches 1/2
            result = 1; // covered
        }
        return result; // covered
    }

    static int never(boolean flag) {
        return flag ? 1 : 2; // missed
    }

    public static void main(String[] arguments) {
        both(true); // covered
        both(false); // covered
        one(true); // covered
    } // covered
}
