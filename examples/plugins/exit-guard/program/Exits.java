/** Tries to end itself early. */
public class Exits {
    public static void main(String[] arguments) {
        try {
            finish(3);
        } catch (SecurityException refused) {
            System.out.println(refused.getMessage());
        }
        System.out.println("still here");
    }

    static void finish(int status) {
        System.exit(status);
    }
}
