import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** The cases of the tests of spans, named by the first argument. */
public class Spans {
    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "values": values(); break;
            case "exceptions": exceptions(); break;
            case "threads": threads(Integer.parseInt(arguments[1])); break;
            case "flood": flood(Integer.parseInt(arguments[1])); break;
            case "steady":
                steady(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
                break;
            case "written":
                written(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]), Path.of(arguments[3]));
                break;
            case "deep":
                Thread deep = new Thread(null, Spans::deep, "deep", 256 << 10);
                deep.start();
                deep.join();
                break;
            case "unload": unload(Path.of(arguments[1])); break;
            case "forever": forever(); break;
            default: throw new IllegalArgumentException(arguments[0]);
        }
    }

    static void values() {
        primitives(true, (byte) -1, 'x', (short) -2, -3, -4L, 1.5f, 2.5);
        references(null, "text", 7, 8L, new int[3], new String[2][1], new Hostile());
        text("0123456789".repeat(100));
        new Made(42, "made").twice();
        nothing();
    }

    static double primitives(boolean z, byte b, char c, short s, int i, long j, float f, double d) {
        return d + i;
    }

    static Object references(Object none, String text, Integer box, Object other, int[] numbers, String[][] texts, Object hostile) {
        return texts;
    }

    static String text(String text) {
        return text;
    }

    static void nothing() {}

    /** An object whose methods must not be called. */
    static class Hostile {
        @Override public String toString() { throw new AssertionError("asked"); }
        @Override public int hashCode() { throw new AssertionError("asked"); }
    }

    static class Made {
        final int number;

        Made(int number, String name) {
            this.number = number;
        }

        synchronized int twice() {
            return number * 2;
        }
    }

    static class Failing extends Made {
        Failing(int number) {
            super(check(number), "failing");
        }

        static int check(int number) {
            if (number < 0) throw new IllegalArgumentException("negative");
            return number;
        }
    }

    static class Initialised {
        static final int NUMBER;

        static {
            NUMBER = Failing.check(5);
        }
    }

    static void exceptions() {
        if (Initialised.NUMBER != 5) throw new AssertionError();
        for (int round = 0; round < 3; round++) {
            caught(round);
            try {
                new Failing(round - 1);
            } catch (IllegalArgumentException expected) {
                nothing();
            }
        }
    }

    static int caught(int depth) {
        try {
            return thrown(depth);
        } catch (IllegalStateException expected) {
            return -1;
        } finally {
            nothing();
        }
    }

    static int thrown(int depth) {
        if (depth > 0) return thrown(depth - 1);
        throw new IllegalStateException("deep enough");
    }

    static void threads(int count) throws Exception {
        for (int round = 0; round < 3; round++) {
            Thread[] threads = new Thread[count];
            for (int i = 0; i < count; i++) {
                threads[i] = new Thread(() -> work(100), "worker " + i);
                threads[i].start();
            }
            for (Thread thread : threads) thread.join();
        }
    }

    static int work(int calls) {
        int sum = 0;
        for (int i = 0; i < calls; i++) sum += step(i);
        return sum;
    }

    static int step(int number) {
        return number + 1;
    }

    static void flood(int calls) {
        int sum = 0;
        for (int i = 0; i < calls; i++) sum += step(i);
        System.out.println(sum);
    }

    /** Each thread makes the given number of calls in each of the given milliseconds. */
    static void steady(int threads, int calls, int milliseconds) throws Exception {
        Runnable run = () -> {
            long next = System.nanoTime();
            for (int millisecond = 0; millisecond < milliseconds; millisecond++) {
                for (int call = 0; call < calls; call++) step(call);
                next += 1_000_000;
                while (System.nanoTime() - next < 0) Thread.onSpinWait();
            }
        };
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) (all[i] = new Thread(run)).start();
        for (Thread thread : all) thread.join();
    }

    /** Two threads make the given number of calls in each round, and then wait until the event file has them. */
    static void written(int rounds, int calls, Path folder) throws Exception {
        Runnable run = () -> {
            for (int call = 0; call < calls; call++) step(call);
        };
        for (int round = 0; round < rounds; round++) {
            Thread[] all = { new Thread(run), new Thread(run) };
            for (Thread thread : all) thread.start();
            for (Thread thread : all) thread.join();
            for (long before = -1, now; (now = length(folder)) != before; before = now) Thread.sleep(300);
        }
    }

    /** The length of the event file. */
    static long length(Path folder) throws IOException {
        long length = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.events")) {
            for (Path file : files) length += Files.size(file);
        }
        return length;
    }

    static void deep() {
        for (int round = 0; round < 3; round++) {
            try {
                endless(0);
            } catch (StackOverflowError expected) {
                nothing();
            }
        }
        work(10);
    }

    static int endless(int depth) {
        return endless(depth + 1) + 1;
    }

    static void unload(Path classes) throws Exception {
        URL[] urls = {classes.toUri().toURL()};
        for (int round = 0; round < 20; round++) {
            try (URLClassLoader loader = new URLClassLoader(urls, null)) {
                Class<?> loaded = loader.loadClass("Spans$Loaded");
                loaded.getMethod("run", Object.class).invoke(null, loaded.getConstructor().newInstance());
            }
            System.gc();
        }
    }

    public static class Loaded {
        public static void run(Object self) {}
    }

    static void forever() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        Thread waiting = new Thread(() -> waits(started), "waiting");
        waiting.setDaemon(true);
        waiting.start();
        started.await();
        System.out.println("started");
        while (true) {
            work(10);
            Thread.sleep(1);
        }
    }

    static void waits(CountDownLatch started) {
        started.countDown();
        try {
            Thread.sleep(1_000_000);
        } catch (InterruptedException expected) {
            nothing();
        }
    }
}
