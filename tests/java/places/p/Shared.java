package p;

/** The same in two places. */
public class Shared {
    public static void go(boolean first) {
        if (first)
            System.out.println("first");
        else
            System.out.println("second");
    }
}
