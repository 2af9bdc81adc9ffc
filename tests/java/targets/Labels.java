// Labelled loops that are left by `break` and `continue`.
package targets;

public class Labels { // missed
    static int search(int[][] rows, int wanted) {
        int found = 0; // covered
        outer:
        for (int[] row : rows) { // branches 1/2
            for (int number : row) { // branches 1/2
                if (number == wanted) { // covered
                    found++; // covered
                    break outer; // covered
                }
                if (number < 0) { // branches 1/2
                    continue outer; // missed
                }
            }
        }
        return found; // covered
    }

    public static void main(String[] arguments) {
        search(new int[][] {{1, 2}, {3}}, 2); // covered
    } // covered
}
