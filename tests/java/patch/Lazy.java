import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Prints "up", then loads the class that each line of its standard input names, and prints its answer. */
public class Lazy {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("up");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(Class.forName(line).getMethod("answer").invoke(null));
        }
    }
}
