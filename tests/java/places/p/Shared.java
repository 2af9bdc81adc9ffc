package p;

/** The same class at two locations. */
public class Shared {
    public static void go(boolean first) {
        if (first)
            System.out.println("first");
        else
            System.out.println("second");
    }
}
