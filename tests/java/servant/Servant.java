import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicBoolean;

/** Prints "up", then executes the orders of its standard input, with one line of answer each, until the input ends. */
public class Servant {
    static Instrumentation instrumentation;
    static final AtomicBoolean spinning = new AtomicBoolean();
    static volatile long spun;
    static Thread spinner;
    static ByteBuffer mapped;
    static final Class<?>[] namesakes = new Class<?>[2];

    public static void premain(String options, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("up");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(obey(line.split(" ")));
        }
        System.out.println("down");
    }

    static String obey(String[] order) throws Exception {
        switch (order[0]) {
            case "steps": return steps(order[1]);
            case "spin": return spin();
            case "spun": return spun();
            case "rest": return rest();
            case "crowd": return Crowd.of(Integer.parseInt(order[1]));
            case "bodies": return bodies(Class.forName(order[1]));
            case "bytes": return bytes(Class.forName(order[1]));
            case "namesakes": return namesakes();
            case "map": return map(order[1]);
            case "widen": return Copier.by(Integer.parseInt(order[1]));
            case "load": return Class.forName(order[1], true, Servant.class.getClassLoader()).getName();
            default: return "what is " + order[0] + "?";
        }
    }

    /** Calls the methods of {@link Steps} with these letters. */
    static String steps(String letters) {
        int sum = 0;
        for (char letter : letters.toCharArray()) {
            sum += step(letter);
        }
        return "sum " + sum;
    }

    static int step(char letter) {
        switch (letter) {
            case 'a': return Steps.a();
            case 'b': return Steps.b();
            case 'c': return Steps.c();
            default: return Steps.d();
        }
    }

    /** A thread that calls {@code Steps.d} without a pause. */
    static String spin() throws Exception {
        spinning.set(true);
        spinner = new Thread(() -> {
            while (spinning.get()) {
                spun += Steps.d();
            }
        });
        spinner.start();
        while (spun == 0) {
            Thread.sleep(1);
        }
        return "spinning";
    }

    /** Waits until that thread has called it once more, from beginning to end. */
    static String spun() {
        long until = spun + 8; // one call may have begun before
        while (spun < until) {
            Thread.yield();
        }
        return "spun";
    }

    static String rest() throws Exception {
        spinning.set(false);
        spinner.join();
        return "resting";
    }

    /** The bytecode of each method as the JVM runs it. */
    static String bodies(Class<?> type) {
        System.load(System.getProperty("bodies"));
        return Bodies.of(type);
    }

    /**
     * Maps a file into memory for as long as the program runs. Without a handler, because HotSpot adds constants to the
     * pool of a class with one when it is retransformed, and tests compare this class before and after.
     */
    static String map(String file) throws Exception {
        FileChannel channel = FileChannel.open(Path.of(file));
        mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
        channel.close();
        return "mapped";
    }

    /** {@link Steps} in two loaders of one class, created by the first call, and the bytecode of each. */
    static String namesakes() throws Exception {
        StringBuilder all = new StringBuilder();
        for (int at = 0; at < namesakes.length; at++) {
            if (namesakes[at] == null) {
                URL[] path = {Servant.class.getProtectionDomain().getCodeSource().getLocation()};
                ClassLoader loader = new URLClassLoader(path, null);
                namesakes[at] = Class.forName("Servant$Steps", true, loader);
            }
            all.append(at == 0 ? "" : " ").append(bodies(namesakes[at]));
        }
        return all.toString();
    }

    /** The class file that the JVM passes to a retransformation, before our other agents. */
    static String bytes(Class<?> type) throws Exception {
        byte[][] seen = new byte[1][];
        ClassFileTransformer watcher = new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
                if (redefined == type) {
                    seen[0] = bytes;
                }
                return null;
            }
        };
        instrumentation.addTransformer(watcher, true);
        instrumentation.retransformClasses(type);
        instrumentation.removeTransformer(watcher);
        return Base64.getEncoder().encodeToString(seen[0]);
    }

    static class Bodies {
        static native String of(Class<?> type);
    }

    /** The measured methods. */
    static class Steps {
        static int a() { return 1; }
        static int b() { return 2; }
        static int c() { return 3; }
        static int d() { return 4; }
    }
}

/** Threads that call {@code Steps.d} now and then, for as long as the program runs. */
class Crowd {
    static volatile int sum;

    static String of(int threads) {
        for (int number = 0; number < threads; number++) {
            Thread thread = new Thread(Crowd::live);
            thread.setDaemon(true);
            thread.start();
        }
        return threads + " threads";
    }

    static void live() {
        try {
            while (true) {
                for (int call = 0; call < 10; call++) {
                    sum += Servant.Steps.d();
                }
                Thread.sleep(5);
            }
        } catch (InterruptedException never) {
            throw new AssertionError(never);
        }
    }
}

/** Loads some thousand copies of {@link Wide0000}, which differ from it by their names alone. */
class Copier {
    static String by(int copies) throws Exception {
        InputStream own = Servant.class.getResourceAsStream("Wide0000.class");
        String text = new String(own.readAllBytes(), StandardCharsets.ISO_8859_1);
        for (int number = 1; number <= copies; number++) {
            String copy = text.replace("Wide0000", String.format("Wide%04d", number));
            byte[] bytes = copy.getBytes(StandardCharsets.ISO_8859_1);
            MethodHandles.lookup().defineClass(bytes).getMethods(); // links it
        }
        Wide0000.a(0);
        return copies + " copies";
    }
}

/** A class of a few methods. Without a handler, for the reason that {@link Servant#map} gives. */
class Wide0000 {
    public static int a(int value) { return value > 0 ? b(value - 1) : 0; }

    public static int b(int value) {
        int sum = 0;
        for (int at = 0; at < value; at++) {
            if (at % 3 == 0 || at % 5 == 0) {
                sum += c(at);
            } else {
                sum -= at;
            }
        }
        return sum;
    }

    public static int c(int value) {
        switch (value) {
            case 1: return d("one");
            case 2: return d("two");
            case 3: return d("three");
            default: return d(Integer.toString(value));
        }
    }

    public static int d(String text) {
        return text.isEmpty() ? 0 : text.length() + text.charAt(0);
    }
}
