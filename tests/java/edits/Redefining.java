import java.io.IOException;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Redefines a loaded class with each version, and prints the JVM's answer. */
public class Redefining {
    interface Speaking {}

    @FunctionalInterface
    interface Asking {
        int ask();
    }

    static class Loaded implements Speaking {
        static int count = 1;
        final Asking asking = () -> count;

        int answer() {
            return asking.ask();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Loaded loaded = new Loaded();
        System.out.println("at first " + loaded.answer());
        Path[] versions;
        try (var files = Files.list(Path.of(arguments[0]))) {
            versions = files.sorted().toArray(Path[]::new);
        }
        for (Path version : versions) {
            System.out.println(version.getFileName() + " " + offer(version) + " " + loaded.answer());
        }
    }

    private static String offer(Path version) throws IOException, UnmodifiableClassException {
        byte[] bytes = Files.readAllBytes(version);
        try {
            Agent.instrumentation.redefineClasses(new ClassDefinition(Loaded.class, bytes));
            return "taken " + Arrays.toString(Loaded.class.getAnnotations());
        } catch (UnsupportedOperationException | ClassNotFoundException | LinkageError refused) {
            return refused.getMessage();
        }
    }
}
