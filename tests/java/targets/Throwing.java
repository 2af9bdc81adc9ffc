// `throw` itself is covered by the probe in front of it.
package targets;

public class Throwing { // missed
    static void always() {
        throw new IllegalStateException(); // covered
    }

    static void sometimes(boolean flag) {
        if (flag) { // branches 1/2
            throw new IllegalStateException("flag"); // missed
        }
    } // covered

    public static void main(String[] arguments) {
        sometimes(false); // covered
        try {
            always(); // missed
            sometimes(true); // missed
        } catch (IllegalStateException expected) { // covered
        } // missed
    } // covered
}
