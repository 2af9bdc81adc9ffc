import io.github.classhook.advice.*;

/** Prints each value of each call. */
@Advice({"Shop#*", "Shop#<init>", "<:Shop$Greeter#*", "Shop$Greeter#*", "Shop$Generic#*", "!Shop#all", "!Shop#main", "!Shop#toString", "!Shop#changed"})
class Values {
    @OnEntry
    static void enter(@Method String method, @AllArguments Object[] arguments) {
        System.out.println("> " + method + " " + java.util.Arrays.deepToString(arguments));
    }

    @OnExit
    static void leave(@Method String method, @Returned Object returned, @Thrown Throwable thrown) {
        Object shown = returned instanceof int[] ? java.util.Arrays.toString((int[]) returned) : returned;
        System.out.println("< " + method + " " + shown + " " + thrown);
    }
}
