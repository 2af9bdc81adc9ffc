// stdout: fruit fruit nothing
// stdout: red
// stdout: A circle of 2
// releases: 21..
public class Switches {
    sealed interface Shape permits Circle, Square {}

    record Circle(int radius) implements Shape {} // covered

    record Square(int side) implements Shape {} // missed

    enum Colour { RED, GREEN } // covered

    static String kind(String name) {
        return switch (name) { // branches 2/3
            case "apple", "pear" -> "fruit"; // covered
            case "leek" -> "vegetable"; // missed
            default -> "nothing"; // covered
        };
    }

    static String colour(Colour colour) {
        return switch (colour) { // branches 1/2
            case RED -> "red"; // covered
            case GREEN -> "green"; // missed
        };
    }

    static String shape(Shape shape) {
        return switch (shape) { // branches 1/2
            case Circle(int radius) -> "A circle of " + radius; // branches 1/2
            case Square square -> "A square of " + square.side(); // missed
        };
    }

    public static void main(String[] arguments) {
        System.out.println(kind("apple") + " " + kind("pear") + " " + kind("stone")); // covered
        System.out.println(colour(Colour.RED)); // covered
        System.out.println(shape(new Circle(2))); // covered
    }
}
