// Bodies of lambdas have lines of their own.
package targets;

public class Lambdas { // missed
    interface Work {
        int run(int number);
    }

    static Work executed() {
        return number -> number + 1; // covered
    }

    static Work notExecuted() {
        return number -> { // covered
            int twice = 2 * number; // missed
            return twice; // missed
        };
    }

    static Work nested() {
        return number -> { // covered
            Work inner = more -> more * 2; // covered
            return inner.run(number); // covered
        };
    }

    public static void main(String[] arguments) {
        executed().run(1); // covered
        notExecuted(); // covered
        nested().run(1); // covered
    } // covered
}
