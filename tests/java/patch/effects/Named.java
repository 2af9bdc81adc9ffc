import java.lang.reflect.Method;

/** The properties of a method that frameworks read. */
public class Named {
    record Pair(int left, String right) {}

    static String greet(String firstName) {
        return "original";
    }

    public static String answer() throws Exception {
        Method method = Named.class.getDeclaredMethod("greet", String.class);
        return greet("") + " " + method.getParameters()[0].getName() + " " + new Pair(1, "").left();
    }
}
