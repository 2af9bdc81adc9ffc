// Generated members of a record are left out, written ones are not.
package targets;

public class Records { // missed
    record Plain(int a, String b) {} // covered

    record Written(int a) {
        Written { // covered
            if (a < 0) { // branches 1/2
                throw new IllegalArgumentException(); // missed
            }
        } // covered

        public int a() {
            return a + 1; // covered
        }

        int twice() {
            return 2 * a; // missed
        }

        @Override
        public String toString() {
            return "written"; // missed
        }
    }

    public static void main(String[] arguments) {
        new Plain(1, "x"); // covered
        new Written(1).a(); // covered
    } // covered
}
