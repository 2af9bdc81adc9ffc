package counted;

import java.util.List;

/** Record patterns, with the counters of the source in the comments. The return of all cases is on the line of the last. */
public class RecordPatterns {
    sealed interface Shape permits Circle, Square, Pair {}

    record Circle(int radius) implements Shape {}

    record Square(Integer side) implements Shape {}

    record Pair(Shape first, Shape second) implements Shape {}

    record Wrapped(Circle circle) {}

    record Numbers(int one, long two, Object three) {}

    static int primitive(Object value) {
        if (value instanceof Circle(int radius)) { // branches 2/2
            return radius; // covered
        }
        return -1; // covered
    }

    static int primitives(Object value) {
        if (value instanceof Numbers(int one, long two, var three)) { // branches 1/2
            return one + (int) two; // covered
        }
        return -1; // missed
    }

    static int nested(Object value) {
        if (value instanceof Pair(Circle(int radius), Square(Integer side)) && radius > 1) { // branches 3/4
            return radius + side; // covered
        }
        return -1; // covered
    }

    static boolean either(Object value, boolean other) {
        return value instanceof Wrapped(Circle(var radius)) || other; // branches 3/4
    }

    static boolean negated(Object value) {
        if (!(value instanceof Pair(Circle first, Square second))) { // branches 1/2
            return false; // covered
        }
        return first.radius() > second.side(); // branches 0/2
    }

    static int exhaustive(Shape shape) {
        return switch (shape) { // branches 3/4
            case Circle(int radius) -> radius; // covered
            case Square(Integer side) -> side; // missed
            case Pair(Circle(int radius), Square square) -> radius; // covered
            case Pair(Shape first, Shape second) -> 2; // covered
        };
    }

    static String guarded(Object value) {
        return switch (value) { // branches 5/8
            case null -> "null"; // missed
            case Circle(int radius) when radius > 5 -> "big"; // branches 2/2
            case Circle(int radius) -> "small"; // covered
            case String text when text.isEmpty() -> "empty"; // branches 1/2
            case String text -> text; // covered
            case Wrapped(Circle(int radius)) when radius == 0 -> "none"; // branches 0/2
            case Pair(Circle(var radius), Pair(Circle(var other), var last)) -> "pairs"; // covered
            default -> "other"; // partly
        };
    }

    static int oneRecord(Shape shape) {
        return switch (shape) { // branches 3/5
            case Pair(Circle one, Circle two) -> 1; // covered
            case Pair(Circle one, Square two) -> 2; // missed
            case Pair(Square one, Circle two) -> 3; // covered
            case Pair(Shape one, Shape two) -> 4; // covered
            case Shape other -> 5; // partly
        };
    }

    static int loop(List<Object> values) {
        int sum = 0; // covered
        for (Object value : values) { // branches 2/2
            if (value instanceof Circle(int radius) && radius % 2 == 0) { // branches 4/4
                sum += radius; // covered
            }
        }
        return sum; // covered
    }

    public static void main(String[] arguments) {
        Circle circle = new Circle(3);
        Square square = new Square(4);
        primitive(circle);
        primitive("circle");
        primitives(new Numbers(1, 2, 3));
        nested(new Pair(circle, square));
        nested(new Pair(square, circle));
        nested("pair");
        either(new Wrapped(circle), false);
        either(new Wrapped(null), false);
        negated(new Pair(square, square));
        exhaustive(circle);
        exhaustive(new Pair(circle, square));
        exhaustive(new Pair(square, circle));
        guarded(new Circle(6));
        guarded(circle);
        guarded("text");
        guarded(new Pair(circle, new Pair(circle, square)));
        oneRecord(new Pair(circle, circle));
        oneRecord(new Pair(square, circle));
        oneRecord(new Pair(square, square));
        loop(List.of(circle, new Circle(4), square));
    }
}
