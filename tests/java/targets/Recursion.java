// A method that calls itself.
package targets;

public class Recursion { // missed
    static int factorial(int number) {
        if (number <= 1) { // covered
            return 1; // covered
        }
        return number * factorial(number - 1); // covered
    }

    public static void main(String[] arguments) {
        factorial(3); // covered
    } // covered
}
