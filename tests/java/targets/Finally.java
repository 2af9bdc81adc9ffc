// The copies of a `finally` block count as one.
package targets;

public class Finally { // missed
    static void normal() {
        try {
            nop(false); // covered
        } finally { // nothing
            nop(false); // covered
        }
    } // covered

    static int early(boolean flag) {
        try {
            if (flag) { // branches 1/2
                return 1; // covered
            }
            nop(false); // missed
        } finally { // nothing
            nop(false); // covered
        }
        return 2; // missed
    }

    static void failing() {
        try {
            nop(true); // missed
            nop(false); // missed
        } finally { // nothing
            nop(false); // covered
        }
    } // missed

    static void nop(boolean fails) {
        if (fails) { // covered
            throw new IllegalStateException(); // covered
        }
    } // covered

    public static void main(String[] arguments) {
        normal(); // covered
        early(true); // covered
        try {
            failing(); // missed
        } catch (IllegalStateException expected) { // covered
            nop(false); // covered
        } // missed
    } // covered
}
