import java.lang.reflect.Method;

/** Calls a method by reflection, thousands of times for each byte that it reads, and prints the last answer. */
public class Reflected {
    public static String value() {
        return "original";
    }

    public static void main(String[] arguments) throws Exception {
        Method method = Reflected.class.getMethod("value");
        while (System.in.read() >= 0) {
            Object answer = null;
            for (int call = 0; call < 20_000; call++) {
                answer = method.invoke(null);
            }
            System.out.println(answer);
        }
    }
}
