// Conditional expressions, one in the other.
package targets;

public class Conditional { // missed
    static String size(int number) {
        return number > 100 ? "large" : number > 10 ? "middle" : "small"; // branches 3/4
    }

    public static void main(String[] arguments) {
        size(1000); // covered
        size(1); // covered
    } // covered
}
