// Static and instance initializers, in each constructor.
package targets;

public class Initializers {
    static int counter = Integer.parseInt("1"); // covered
    static final int CONSTANT = 5; // nothing

    static {
        counter++; // covered
    } // covered

    int field = counter; // partly

    {
        field++; // partly
    }

    Initializers() { // covered
        field--; // covered
    } // covered

    Initializers(int number) { // missed
        field = number; // missed
    } // missed

    public static void main(String[] arguments) {
        new Initializers(); // covered
    } // covered
}
