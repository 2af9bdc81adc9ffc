// A class that is loaded, but none of whose methods run.
package targets;

public class StaticInitializerOnly { // missed
    static class Lazy { // missed
        static int value = Integer.parseInt("1"); // covered

        static int get() {
            return value; // missed
        }
    }

    public static void main(String[] arguments) {
        int read = Lazy.value; // covered
    } // covered
}
