// `instanceof` with a pattern.
package targets;

public class InstanceOf { // missed
    static int length(Object object) {
        if (object instanceof String text && text.length() > 3) { // branches 3/4
            return text.length(); // covered
        }
        if (!(object instanceof Integer number)) { // branches 1/2
            return -1; // missed
        }
        return number; // covered
    }

    public static void main(String[] arguments) {
        length("long text"); // covered
        length(5); // covered
    } // covered
}
