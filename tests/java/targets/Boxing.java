// Boxing, compound assignment and string concatenation.
package targets;

public class Boxing { // missed
    static Integer count = 0; // covered

    static String text(Integer number) {
        count++; // covered
        count += number; // covered
        return "n" + number + count; // covered
    }

    public static void main(String[] arguments) {
        text(1); // covered
    } // covered
}
