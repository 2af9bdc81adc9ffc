// The test whether assertions are enabled is left out; here they are not.
package targets;

public class Asserts { // partly
    static void positive(int number) {
        assert number > 0 : "negative"; // branches 1/2
        int twice = 2 * number; // covered
    } // covered

    public static void main(String[] arguments) {
        positive(1); // covered
    } // covered
}
