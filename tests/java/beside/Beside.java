import java.io.File;
import java.lang.instrument.ClassDefinition;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/** Changes {@link Target} as its arguments say, through the other agent's {@code Instrumentation}. */
public class Beside {
    interface Shape {
        int area();
    }

    public static void main(String[] arguments) throws Throwable {
        for (String argument : arguments) {
            String[] parts = argument.split(":", 2);
            switch (parts[0]) {
                case "once": System.out.println(new Target().pick(1)); break;
                case "all": all(); break;
                case "retransform": Other.instrumentation.retransformClasses(Target.class); break;
                case "retransform-rest": rest(); break;
                case "redefine": redefine(parts[1]); break;
                case "wait": awaitFile(parts[1]); break;
                default: throw new IllegalArgumentException(argument);
            }
        }
        System.out.println("done");
    }

    /** Every path of every method. */
    static void all() throws Exception {
        Target target = new Target();
        for (int n = 1; n < 8; n++) {
            System.out.print(target.pick(n) + " ");
        }
        System.out.println(target.mark());
        try {
            System.out.println(Target.class.getDeclaredMethod("added").invoke(target));
        } catch (NoSuchMethodException none) {
            System.out.println("nothing added");
        }
    }

    /** Classes without probes: of the JDK, and an interface. */
    static void rest() throws Exception {
        Other.instrumentation.retransformClasses(ArrayList.class, Shape.class, Thread.class);
        List<String> list = new ArrayList<>(List.of("a", "b"));
        System.out.println(list + " " + Shape.class.getDeclaredMethods().length);
    }

    static void redefine(String file) throws Exception {
        byte[] bytes = Files.readAllBytes(Paths.get(file));
        Other.instrumentation.redefineClasses(new ClassDefinition(Target.class, bytes));
    }

    static void awaitFile(String file) throws Exception {
        System.out.println("waiting");
        while (!new File(file).exists()) {
            Thread.sleep(5);
        }
    }
}
