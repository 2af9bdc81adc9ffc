import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;

/** Prints the members that reflection finds in a class with added ones. */
public class Members {
    @Retention(RetentionPolicy.RUNTIME)
    @interface Marked {
        String text();

        long number();

        Class<?>[] types();

        Thread.State state();
    }

    static class Plain {
        @Deprecated int kept = 1;

        int old() {
            return kept;
        }

        static int replaced(int argument) {
            return argument;
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (Field field : Plain.class.getDeclaredFields()) {
            Object value = java.lang.reflect.Modifier.isStatic(field.getModifiers()) ? field.get(null) : "-";
            System.out.println(field + " = " + value + " " + marks(field.getAnnotation(Marked.class)));
        }
        Method[] methods = Plain.class.getDeclaredMethods();
        Arrays.sort(methods, (a, b) -> a.getName().compareTo(b.getName()));
        for (Method method : methods) {
            System.out.println(method + " " + marks(method.getAnnotation(Marked.class)));
        }
        System.out.println(Arrays.toString(Plain.class.getInterfaces()));
        System.out.println(marks(Plain.class.getAnnotation(Marked.class)));
        System.out.println(Plain.class.getDeclaredMethod("summed", long.class, int.class).invoke(null, 5L, 3));
        System.out.println(Plain.replaced(-4) + " " + Plain.replaced(4));
        System.out.println(new Plain().old());
    }

    private static String marks(Marked mark) {
        return mark == null
            ? "unmarked"
            : mark.text() + " " + mark.number() + " " + Arrays.toString(mark.types()) + " " + mark.state();
    }
}
