// stdout: -2 zero 3 small
// stdout: sum 10
// stdout: default b
//
// A case: this file is compiled, run with and without the agent, and with JaCoCo; its output and its lines are checked.
// The leading comments may hold, each as `key: value`:
//   stdout      one line of the program's output; all of them in order
//   exit        its exit code (0)
//   jvm         options of the JVM
//   agent       options of the agent (plugin=coverage)
//   arguments   of the program
//   releases    17.. or 11..21: on which JDKs it runs (all)
// A comment at the end of a line says what the report must show for it:
//   covered         every instruction and branch was executed
//   branches 1/2    so many of so many branches were
//   missed          nothing of it was
//   nothing         it does not count at all
public class Branches {
    static String sign(int number) {
        if (number < 0) { // covered
            return String.valueOf(number); // covered
        } else if (number == 0) { // covered
            return "zero"; // covered
        }
        return number > 2 ? number + (number > 100 ? " large" : " small") : "one or two"; // branches 2/4
    }

    static int sum(int upTo) {
        int sum = 0;
        for (int i = 1; i <= upTo; i++) { // covered
            sum += i; // covered
        }
        while (sum < 0) { // branches 1/2
            sum++; // missed
        }
        return sum; // covered
    }

    static String choose(int number) {
        switch (number) { // branches 2/3
            case 1:
                return "a"; // missed
            case 2:
                return "b"; // covered
            default:
                return "default"; // covered
        }
    }

    static boolean both(boolean left, boolean right) {
        return left && right; // branches 1/4
    }

    static void never() {
        System.out.println("never"); // missed
    }

    public static void main(String[] arguments) {
        System.out.println(sign(-2) + " " + sign(0) + " " + sign(3)); // covered
        System.out.println("sum " + sum(4)); // covered
        System.out.println(choose(7) + " " + choose(2)); // covered
        if (both(false, true)) { // branches 1/2
            never(); // missed
        }
    }
}
