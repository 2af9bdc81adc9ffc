// A `switch` on types, with guards and null.
package targets;

public class SwitchPattern { // missed
    sealed interface Shape permits Circle, Square {}

    record Circle(int radius) implements Shape {} // covered

    record Square(int side) implements Shape {} // covered

    static int area(Shape shape) {
        return switch (shape) { // covered
            case Circle circle -> 3 * circle.radius() * circle.radius(); // covered
            case Square square when square.side() == 1 -> 1; // branches 1/2
            case Square square -> square.side() * square.side(); // covered
        };
    }

    static String any(Object object) {
        return switch (object) { // branches 3/4
            case null -> "null"; // covered
            case String text -> text; // missed
            case Integer number when number > 10 -> "large"; // branches 1/2
            default -> "other"; // covered
        };
    }

    public static void main(String[] arguments) {
        area(new Circle(1)); // covered
        area(new Square(2)); // covered
        any(null); // covered
        any(5); // covered
    } // covered
}
