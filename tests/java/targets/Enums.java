// `values` and `valueOf` are left out; constants with bodies and constructors with work are not.
package targets;

public class Enums { // missed
    enum Plain { A, B } // covered

    enum Rich { // covered
        ONE(1) { // covered
            @Override
            int twice() {
                return 2; // covered
            }
        },
        MANY(9); // covered

        private final int number;

        Rich(int number) { // covered
            this.number = number; // covered
        } // covered

        int twice() {
            return 2 * number; // missed
        }
    }

    public static void main(String[] arguments) {
        Plain.A.name(); // covered
        Rich.ONE.twice(); // covered
    } // covered
}
