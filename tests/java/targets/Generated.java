// Code with an annotation called Generated is left out.
package targets;

public class Generated { // missed
    @java.lang.annotation.Retention(java.lang.annotation.RetentionPolicy.CLASS)
    @interface LombokGenerated {}

    @LombokGenerated
    static int left() {
        return 1; // nothing
    }

    @LombokGenerated
    static class Whole { // nothing
        int left() {
            return 1; // nothing
        }
    }

    static int kept() {
        return 2; // missed
    }

    public static void main(String[] arguments) {
        int nothing = 0; // covered
    } // covered
}
