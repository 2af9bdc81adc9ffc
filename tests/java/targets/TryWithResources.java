// The closing of resources is left out.
package targets;

public class TryWithResources { // missed
    static class Resource implements AutoCloseable { // covered
        @Override
        public void close() {
            nop(); // covered
        } // covered
    }

    static void one() {
        try (Resource resource = new Resource()) { // covered
            nop(); // covered
        }
    } // covered

    static void two() {
        try (Resource first = new Resource(); // covered
                Resource second = new Resource()) { // covered
            nop(); // covered
        } catch (RuntimeException error) { // missed
            nop(); // missed
        } finally {
            nop(); // covered
        }
    } // covered

    static int result() {
        try (Resource resource = new Resource()) { // covered
            return 1; // covered
        }
    }

    static void nop() {
    } // covered

    public static void main(String[] arguments) {
        one(); // covered
        two(); // covered
        result(); // covered
    } // covered
}
