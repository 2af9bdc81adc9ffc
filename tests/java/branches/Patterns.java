package branches;

/** `switch` over patterns, for compilers that have them. */
public class Patterns {
    sealed interface Shape permits Circle, Square, Line {}
    record Circle(int radius) implements Shape {}
    record Square(int side) implements Shape {}
    record Line() implements Shape {}

    static int size(Shape shape) {
        return switch (shape) { // case Square, case Line were never taken
            case Circle circle -> circle.radius();
            case Square square -> square.side();
            case Line line -> 0;
        };
    }

    static int open(Object value) {
        return switch (value) { // case null, case Integer, default were never taken
            case String text when text.equals("a") -> 1; // false was never taken
            case Integer number -> number;
            case null -> 4;
            default -> 2;
        };
    }

    public static void main(String[] arguments) {
        System.out.println(size(new Circle(1)) + open("a"));
    }
}
