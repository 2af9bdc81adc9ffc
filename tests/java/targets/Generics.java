// Casts that the compiler adds have no branches.
package targets;

public class Generics { // missed
    static <T extends Comparable<T>> T larger(T left, T right) {
        return left.compareTo(right) > 0 ? left : right; // covered
    }

    public static void main(String[] arguments) {
        String larger = larger("a", "b"); // covered
        Integer number = larger(2, 1); // covered
    } // covered
}
