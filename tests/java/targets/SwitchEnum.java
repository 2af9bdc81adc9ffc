// A `switch` on an enum, with the synthetic class that numbers its constants.
package targets;

public class SwitchEnum { // missed
    enum Colour { RED, GREEN, BLUE } // covered

    static int statement(Colour colour) {
        switch (colour) { // branches 2/3
            case RED:
                return 1; // covered
            case GREEN:
                return 2; // missed
            default:
                return 3; // covered
        }
    }

    static int exhaustive(Colour colour) {
        return switch (colour) { // covered
            case RED -> 1; // covered
            case GREEN -> 2; // covered
            case BLUE -> 3; // covered
        };
    }

    public static void main(String[] arguments) {
        statement(Colour.RED); // covered
        statement(Colour.BLUE); // covered
        for (Colour colour : Colour.values()) { // covered
            exhaustive(colour); // covered
        }
    } // covered
}
