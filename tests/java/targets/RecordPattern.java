// Record patterns: the handler that wraps an accessor's exception is left out.
package targets;

public class RecordPattern { // missed
    record Point(int x, int y) {} // covered

    record Line(Point from, Point to) {} // covered

    static int length(Object object) {
        if (object instanceof Line(Point(int x, int y), Point to)) { // branches 4/8
            return to.x() - x + to.y() - y; // covered
        }
        return 0; // missed
    }

    static int sum(Object object) {
        return switch (object) { // covered
            case Point(int x, int y) -> x + y; // branches 2/4
            default -> 0; // covered
        };
    }

    public static void main(String[] arguments) {
        length(new Line(new Point(1, 2), new Point(3, 4))); // covered
        sum(new Point(1, 2)); // covered
        sum(""); // covered
    } // covered
}
