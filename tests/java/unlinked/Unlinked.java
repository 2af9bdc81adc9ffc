import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Has a class that is loaded from the start and linked by its first call. Executes orders as `Servant` does. */
public class Unlinked {
    static class Lazy {
        static String work() {
            return "done";
        }
    }

    public static void main(String[] arguments) throws Exception {
        Class.forName("Unlinked$Lazy", false, Unlinked.class.getClassLoader());
        System.out.println("up");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        while (input.readLine() != null) {
            System.out.println(Lazy.work());
        }
    }
}
