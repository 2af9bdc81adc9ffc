// Default, static and private methods of interfaces.
package targets;

public class Interfaces { // missed
    interface Greeting {
        int COUNT = Integer.parseInt("3"); // covered

        String name();

        default String greet() {
            return prefix() + name(); // covered
        }

        default String unused() {
            return name(); // missed
        }

        static int count() {
            return COUNT; // covered
        }

        private String prefix() {
            return "Hello "; // covered
        }
    }

    static class World implements Greeting { // covered
        @Override
        public String name() {
            return "World"; // covered
        }
    }

    public static void main(String[] arguments) {
        new World().greet(); // covered
        Greeting.count(); // covered
    } // covered
}
