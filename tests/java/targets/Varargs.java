// Arrays of arguments, and array literals.
package targets;

public class Varargs { // missed
    static int sum(int... numbers) {
        int sum = 0; // covered
        for (int number : numbers) { // covered
            sum += number; // covered
        }
        return sum; // covered
    }

    public static void main(String[] arguments) {
        sum(); // covered
        sum(1, 2); // covered
        int[][] table = {{1}, {2, 3}}; // covered
    } // covered
}
