// A `switch` on strings: the look-up by hash code counts as one switch.
package targets;

public class SwitchString { // missed
    static int statement(String text) {
        switch (text) { // branches 2/4
            case "a":
                return 1; // covered
            case "b":
                return 2; // missed
            case "Aa":
            case "BB":
                return 3; // covered
            default:
                return 0; // missed
        }
    }

    static int expression(String text) {
        return switch (text) { // covered
            case "a" -> 1; // covered
            case "b" -> 2; // covered
            default -> 0; // covered
        };
    }

    public static void main(String[] arguments) {
        statement("a"); // covered
        statement("BB"); // covered
        expression("a"); // covered
        expression("b"); // covered
        expression("c"); // covered
    } // covered
}
