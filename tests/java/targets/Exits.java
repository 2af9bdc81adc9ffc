// Code behind an exit that is not taken, and behind one that is.
package targets;

public class Exits { // missed
    static int early(int number) {
        if (number > 0) return 1; // covered
        number++; // covered
        return number; // covered
    }

    static void last(boolean flag) {
        if (flag) return; // covered
        early(0); // covered
    } // covered

    public static void main(String[] arguments) {
        early(1); // covered
        last(false); // covered
        last(true); // covered
    } // covered
}
