// A private empty constructor is left out, others are not.
package targets;

public class Constructors { // missed
    static class Utility {
        private Utility() { // nothing
        }

        static void run() {
        } // covered
    }

    static class Public {
        public Public() { // missed
        } // missed
    }

    static class WithParameter {
        private WithParameter(int number) { // missed
        } // missed
    }

    static class Implicit { // covered
    }

    public static void main(String[] arguments) {
        Utility.run(); // covered
        new Implicit(); // covered
    } // covered
}
