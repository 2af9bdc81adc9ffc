// Inner, nested, local and anonymous classes.
package targets;

public class InnerClasses { // covered
    private int field = 1; // covered

    class Inner { // covered
        int get() {
            return field; // covered
        }
    }

    static class Nested { // missed
        int unused() {
            return 1; // missed
        }
    }

    int local() {
        class Local { // covered
            int get() {
                return field; // covered
            }
        }
        return new Local().get(); // covered
    }

    Runnable anonymous() {
        return new Runnable() { // covered
            @Override
            public void run() {
                field++; // missed
            } // missed
        };
    }

    public static void main(String[] arguments) {
        InnerClasses outer = new InnerClasses(); // covered
        outer.new Inner().get(); // covered
        outer.local(); // covered
        outer.anonymous(); // covered
    } // covered
}
