import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Calls traced and covered code, exhausts memory or threads, and then copies at once the files in
 * the folder of the agent.
 */
public class Exhausted {
    static final int CALLS = 777;
    static volatile Object sink;

    /** Loaded right before the exhaustion. */
    static class Last {
        static void call() {
            sink = "called";
        }
    }

    static void traced() {
        sink = "traced";
    }

    static void askForMemory() {
        sink = new long[1 << 28];
    }

    static void askForThread() {
        new Thread(null, () -> {}, "large", 1L << 47).start();
    }

    public static void main(String[] arguments) throws Exception {
        Path from = Path.of(arguments[1]);
        Path to = Files.createDirectory(Path.of(arguments[2]));
        boolean isMemory = arguments[0].equals("memory");
        Files.walk(from).close(); // what copying needs is loaded
        for (int i = 0; i < CALLS; i++) {
            traced();
        }
        Last.call();
        try {
            if (isMemory) {
                askForMemory();
            } else {
                askForThread();
            }
            throw new AssertionError("there is enough");
        } catch (OutOfMemoryError expected) {
            sink = expected;
        }
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
        System.out.println(sink);
    }
}
