/** A class with static state, and a method with an open frame. For each line of input it prints both. */
public class Kept {
    static int initialised = initialise();
    static int calls;

    static int initialise() {
        System.out.println("initialised");
        return 1;
    }

    static String word() {
        return "original";
    }

    public static void main(String[] arguments) throws Exception {
        for (int read = System.in.read(); read >= 0; read = System.in.read()) {
            calls++;
            System.out.println("frame of the original, " + word() + " " + calls + " " + initialised);
        }
    }
}
