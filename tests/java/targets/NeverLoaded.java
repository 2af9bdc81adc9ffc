// A class that no code touches is missed as a whole.
package targets;

public class NeverLoaded { // missed
    static class Absent { // missed
        int get() {
            return 1; // missed
        }
    }

    public static void main(String[] arguments) {
        int nothing = 0; // covered
    } // covered
}
