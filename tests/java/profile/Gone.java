import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Causes events of rare kinds in known numbers, and stops in a known state. */
public class Gone {
    static final int UNITS = 1_000;
    static volatile Object sink;

    static class Dropped extends Exception {}

    static class Seen extends Exception {}

    static class Passed extends Exception {}

    static class Unit {
        long content;
    }

    static class Gate {}

    static class Kept {}

    static final Kept kept = new Kept();

    static void swallow() {
        try {
            throw new Dropped();
        } catch (Dropped nobodyLooks) {
            sink = "nothing of it";
        }
    }

    static void see() {
        try {
            throw new Seen();
        } catch (Seen looksAtIt) {
            sink = looksAtIt;
        }
    }

    static void pass() throws Passed {
        try {
            throw new Passed();
        } finally {
            sink = "on its way";
        }
    }

    /** A loader that defines this program's class anew. */
    static class Loader extends ClassLoader {
        Class<?> define(String name) throws Exception {
            try (InputStream file = Gone.class.getResourceAsStream(name + ".class")) {
                byte[] bytes = file.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            }
        }
    }

    static void loadAndForget() throws Exception {
        sink = new Loader().define("Gone$Gate").getDeclaredConstructor();
        sink = null;
    }

    static void allocate() {
        for (int i = 0; i < UNITS; i++) {
            sink = new Unit();
        }
        sink = null;
    }

    static void stand(String name, Runnable body, Thread.State state) throws Exception {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }

    static void forEver(Object gate) {
        synchronized (gate) {
            while (true) {
                try {
                    gate.wait();
                } catch (InterruptedException never) {
                    throw new AssertionError(never);
                }
            }
        }
    }

    /** One thread owns a monitor twice and sleeps, one waits to enter it, and one waits for another. */
    static void stand() throws Exception {
        Gate owned = new Gate();
        stand("owner", () -> {
            synchronized (owned) {
                synchronized (owned) {
                    try {
                        Thread.sleep(Long.MAX_VALUE);
                    } catch (InterruptedException never) {
                        throw new AssertionError(never);
                    }
                }
            }
        }, Thread.State.TIMED_WAITING);
        stand("enters", () -> forEver(owned), Thread.State.BLOCKED);
        stand("waits", () -> forEver(new Gate()), Thread.State.WAITING);
    }

    /** Returns whether a file of tables in this folder has the text. */
    static boolean isSaid(Path folder, String text) throws Exception {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : (Iterable<Path>) files.filter(it -> it.toString().endsWith(".tables"))::iterator) {
                if (new String(Files.readAllBytes(file), StandardCharsets.UTF_8).contains(text)) {
                    return true;
                }
            }
        }
        return false;
    }

    public static void main(String[] arguments) throws Exception {
        // The JVM drew the next sample of this thread at its start, with the interval of that time.
        for (int i = 0; i < 64; i++) {
            sink = new byte[1 << 20];
        }
        for (int i = 0; i < 7; i++) {
            swallow();
        }
        for (int i = 0; i < 5; i++) {
            see();
        }
        for (int i = 0; i < 3; i++) {
            try {
                pass();
            } catch (Passed arrived) {
                sink = arrived;
            }
        }
        allocate();
        for (int i = 0; i < 4; i++) {
            loadAndForget();
        }
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        if (arguments.length > 0) {
            String pid = Long.toString(ProcessHandle.current().pid());
            new ProcessBuilder("kill", "-QUIT", pid).start().waitFor();
            stand();
            Thread ready = new Thread(() -> {}, "ready");
            ready.start();
            long end = System.nanoTime() + 120_000_000_000L;
            while (!isSaid(Path.of(arguments[0]), "\"held\"") && System.nanoTime() < end) {
                Thread.sleep(50);
            }
        }
        System.out.println("over");
        System.exit(0);
    }
}
