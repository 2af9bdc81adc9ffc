// A `switch` expression with blocks that yield.
package targets;

public class Yield { // missed
    static int value(int number) {
        return switch (number) { // branches 2/3
            case 1, 2 -> {
                int twice = 2 * number; // covered
                yield twice; // covered
            }
            case 3 -> throw new IllegalStateException(); // missed
            default -> {
                yield 0; // covered
            }
        };
    }

    public static void main(String[] arguments) {
        value(1); // covered
        value(9); // covered
    } // covered
}
