// A chain of calls over several lines.
package targets;

public class Streams { // missed
    static int sum(java.util.List<Integer> numbers) {
        return numbers.stream() // covered
                .filter(number -> number > 1) // covered
                .mapToInt(number -> number) // covered
                .sum(); // covered
    }

    static int none(java.util.List<Integer> numbers) {
        return numbers.stream() // covered
                .filter(number -> number > 1) // branches 0/2
                .mapToInt(number -> number) // partly
                .sum(); // covered
    }

    public static void main(String[] arguments) {
        sum(java.util.List.of(1, 2)); // covered
        none(java.util.List.of()); // covered
    } // covered
}
