/** Calls a deprecated constructor. */
public class Legacy {
    public static void main(String[] arguments) {
        Integer boxed = new Integer(arguments.length);
        if (boxed > 3) {
            Thread.currentThread().stop();
        }
        System.runFinalization();
        System.out.println("still works");
    }
}
