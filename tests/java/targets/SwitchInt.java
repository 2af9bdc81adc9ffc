// A `switch` on numbers, dense and sparse, and falling through.
package targets;

public class SwitchInt { // missed
    static int dense(int number) {
        switch (number) { // branches 2/3
            case 1:
                return 10; // covered
            case 2:
                return 20; // missed
            default:
                return 0; // covered
        }
    }

    static int sparse(int number) {
        int result = 0; // covered
        switch (number) { // branches 1/4
            case 1:
                result++; // covered
            case 1000:
                result++; // covered
                break; // covered
            case 1000000:
                result--; // missed
        }
        return result; // covered
    }

    public static void main(String[] arguments) {
        dense(1); // covered
        dense(7); // covered
        sparse(1); // covered
    } // covered
}
