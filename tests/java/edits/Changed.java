import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;

/** Prints the edits of {@code tests/plugins/editing} in {@code Target}: once, or for each line of input. */
public final class Changed {
    static int second = 2;
    static int count;

    @Retention(RetentionPolicy.RUNTIME)
    @interface Marked {
        String text();
        Thread.State state();
        int[] numbers();
    }

    static class Named extends Thread {
        Named(String name) {
            super(name + " of ours");
        }
    }

    static class Target {
        static int first = 1;
        private int secret = 5;
        int kept = secret + 1;

        static int answer(int of) {
            return of + 1;
        }

        static long time() {
            return System.currentTimeMillis() < 1000 ? 1 : 0;
        }

        static int field() {
            return first;
        }

        static List<String> list() {
            return new ArrayList<>();
        }

        static Thread thread() {
            return new Thread("thread");
        }

        static String silent() {
            fail();
            return "went on";
        }

        static void fail() {
            throw new IllegalStateException("failed");
        }

        static String word() {
            return "word".concat("s");
        }

        static int wrapped() {
            try {
                maybe(false);
                maybe(true);
            } catch (IllegalStateException e) {
                return count;
            }
            return -1;
        }

        static void maybe(boolean fail) {
            if (fail) {
                throw new IllegalStateException();
            }
        }
    }

    static long fixed() {
        return 999;
    }

    static ArrayList<String> list() {
        return new ArrayList<>(List.of("ours"));
    }

    static String silent() {
        try {
            return Target.silent();
        } catch (IllegalStateException e) {
            return e.getMessage();
        }
    }

    static String marks(AnnotatedElement of) {
        Marked marked = of.getAnnotation(Marked.class);
        return marked == null ? "-" : marked.text() + marked.state() + Arrays.toString(marked.numbers());
    }

    static String state() throws ReflectiveOperationException {
        count = 0;
        TreeSet<String> members = new TreeSet<>();
        for (Field field : Target.class.getDeclaredFields()) {
            members.add(field.getName() + " " + marks(field));
        }
        for (Method method : Target.class.getDeclaredMethods()) {
            if (method.getName().equals("answer")) {
                members.add(method.getName() + " " + marks(method));
            }
            if (method.getName().equals("sum")) {
                members.add("sum " + method.invoke(null, 20, 22));
            }
        }
        return Target.answer(4) + " " + Target.time() + " " + Target.field() + " " + Target.list() + " "
                + Target.thread().getName() + " " + silent() + " " + Target.word() + " " + Target.wrapped() + " "
                + new Target().kept + " | " + members + " " + Arrays.toString(Target.class.getInterfaces()) + " "
                + marks(Target.class);
    }

    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        if (args.length == 0) {
            System.out.println(state());
            return;
        }
        new Target();
        System.out.println("up");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        while (orders.readLine() != null) {
            System.out.println(state());
        }
    }
}
