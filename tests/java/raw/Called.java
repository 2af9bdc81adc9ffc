import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Prints ten times the argument of `both`, and one. On request it does so for each line of input. */
public class Called {
    static class Target {
        static int call(int number) {
            return 10 * number;
        }

        static int both() {
            return call(1) + 1;
        }
    }

    public static void main(String[] arguments) throws Exception {
        int first = Target.both();
        System.out.println(arguments.length == 0 ? "" + first : "up");
        if (arguments.length == 0) return;
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        while (input.readLine() != null) System.out.println(Target.both());
    }
}
