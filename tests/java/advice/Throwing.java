import io.github.classhook.advice.*;

/** Throws at each entry, and calls an advised method at each exit. */
@Advice({"Shop#depth", "Shop#half"})
class Throwing {
    @Setting static String word = "own";
    @Setting static int number = 1;
    static int calls;

    @OnEntry
    static long enter() {
        throw new IllegalStateException("by the advice " + word + number);
    }

    @OnExit
    static void leave(@FromEntry long nothing) {
        calls++;
        System.out.println("left " + nothing + " " + Shop.half(calls));
    }
}
