// Loops that are entered, left at once, and left in the middle.
package targets;

public class Loops { // missed
    static void loops(int times) {
        for (int i = 0; i < times; i++) { // covered
            nop(); // covered
        }
        while (times > 100) { // branches 1/2
            nop(); // missed
        }
        do {
            times--; // covered
        } while (times > 0); // covered
        for (int number : new int[] {1, 2, 3}) { // branches 1/2
            if (number == 2) { // covered
                continue; // covered
            }
            if (number == 3) { // covered
                break; // covered
            }
        }
    } // covered

    static void nop() {
    } // covered

    public static void main(String[] arguments) {
        loops(2); // covered
    } // covered
}
