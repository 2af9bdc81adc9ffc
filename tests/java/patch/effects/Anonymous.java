/** Two anonymous classes of one shape. */
public class Anonymous {
    static Object held;

    static Object one() {
        return new Object() {
            @Override
            public String toString() {
                return "one";
            }
        };
    }

    static Object two() {
        return new Object() {
            @Override
            public String toString() {
                return "two";
            }
        };
    }

    public static String answer() {
        if (held == null) {
            held = one();
        }
        return held + " " + two();
    }
}
