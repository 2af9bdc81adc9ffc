import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

/** Classes that are loaded in unusual ways. The output is the same with and without instrumentation. */
public class Loading {
    public static void main(String[] arguments) throws Throwable {
        for (String what : arguments) {
            switch (what) {
                case "small-stack": smallStack(); break;
                case "deep": deep(); break;
                case "parallel": parallel(); break;
                case "twice": twice(); break;
                case "no-name": noName(); break;
                case "no-location": noLocation(); break;
                case "pending": pending(); break;
                case "hidden": hidden(); break;
                case "many": many(400); break;
                case "burst": burst(8, 450); break;
                case "garbage": garbage(); break;
                default: throw new IllegalArgumentException(what);
            }
        }
        System.out.println("done");
    }

    /** A class loader whose classes are copies of {@link Template} under other names. */
    static class Copies extends ClassLoader {
        static {
            registerAsParallelCapable();
        }

        Copies() {
            super(Loading.class.getClassLoader());
        }

        Class<?> copy(int number) throws Exception {
            return define(name(number), number);
        }

        Class<?> define(String name, int number) throws Exception {
            return define(name, bytes(number), Loading.class.getProtectionDomain());
        }

        Class<?> loaded(String name) {
            return findLoadedClass(name);
        }

        Class<?> define(String name, byte[] bytes, ProtectionDomain domain) {
            return defineClass(name, bytes, 0, bytes.length, domain);
        }

        static String name(int number) {
            return String.format("Template%04d", number);
        }

        /** {@code Template0000.class} with its name replaced by one of the same length. */
        static byte[] bytes(int number) throws Exception {
            try (InputStream in = Loading.class.getResourceAsStream("Template0000.class")) {
                String text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
                return text.replace("Template0000", name(number)).getBytes(StandardCharsets.ISO_8859_1);
            }
        }
    }

    static int call(Class<?> type, int argument) throws Exception {
        return (Integer) type.getMethod("pick", int.class).invoke(null, argument);
    }

    /** Threads of 256 KiB that overflow, and define a class as near the bottom as the JVM itself can. */
    static void smallStack() throws Exception {
        Copies loader = new Copies();
        loader.copy(5999); // everything that defining a class needs is loaded and initialised
        int sum = 0;
        for (int i = 0; i < 40; i++) {
            Bottom bottom = new Bottom(loader, 5000 + i);
            Thread thread = new Thread(null, bottom::overflow, "small", 256 << 10);
            thread.start();
            thread.join();
            sum += call(bottom.defined, 1);
        }
        System.out.println("small stacks " + sum);
    }

    static class Bottom {
        final Copies loader;
        final String name;
        final byte[] bytes;
        final ProtectionDomain domain = Loading.class.getProtectionDomain();
        Class<?> defined;

        Bottom(Copies loader, int number) throws Exception {
            this.loader = loader;
            this.name = Copies.name(number);
            this.bytes = Copies.bytes(number);
        }

        void overflow() {
            try {
                overflow();
            } catch (StackOverflowError overflow) {
                // first at the bottom, then in each frame above until the JVM has enough stack
            }
            if (defined == null) {
                try {
                    defined = loader.define(name, bytes, domain);
                } catch (StackOverflowError again) {
                    // one frame up
                } catch (LinkageError twice) {
                    defined = loader.loaded(name); // the JVM had come so far before it overflowed
                }
            }
        }
    }

    /** A class loaded 8,000 frames deep. */
    static void deep() throws Exception {
        int[] result = new int[1];
        Thread thread = new Thread(null, () -> result[0] = down(8000), "deep", 64 << 20);
        thread.start();
        thread.join();
        System.out.println("deep " + result[0]);
    }

    static int down(int frames) {
        if (frames > 0) {
            return down(frames - 1);
        }
        try {
            return call(new Copies().copy(6000), 2);
        } catch (Exception other) {
            return -1;
        }
    }

    /** 32 threads that load different classes, and the same class in one loader at once. */
    static void parallel() throws Exception {
        Copies loader = new Copies();
        AtomicInteger sum = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        CyclicBarrier start = new CyclicBarrier(32);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            int first = 7000 + i * 10;
            Thread thread = new Thread(() -> {
                try {
                    start.await();
                    for (int n = first; n < first + 10; n++) {
                        sum.addAndGet(call(loader.copy(n), 3));
                    }
                    start.await();
                    loader.copy(7999);
                } catch (LinkageError twice) {
                    refused.incrementAndGet();
                } catch (Exception other) {
                    other.printStackTrace();
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("parallel " + sum + " refused " + refused);
    }

    /** The same bytes in two loaders, and twice in one. */
    static void twice() throws Exception {
        Copies one = new Copies();
        Copies other = new Copies();
        int first = call(one.copy(8000), 1);
        int second = call(other.copy(8000), 2);
        try {
            one.copy(8000);
            System.out.println("no error");
        } catch (LinkageError expected) {
            System.out.println("twice " + first + " " + second);
        }
    }

    /** {@code defineClass(null, …)}: the hook gets no name. */
    static void noName() throws Exception {
        System.out.println("no name " + call(new Copies().define(null, 8100), 1));
    }

    /** A class without a source location. */
    static void noLocation() throws Exception {
        class Bare extends ClassLoader {
            Class<?> define(byte[] bytes) {
                return defineClass(null, bytes, 0, bytes.length);
            }
        }
        System.out.println("no location " + call(new Bare().define(Copies.bytes(8200)), 1));
    }

    /** A class loaded while an exception passes through {@code finally} and {@code catch}. */
    static void pending() {
        try {
            try {
                throw new IllegalStateException("kept");
            } finally {
                call(new Copies().copy(8300), 1);
            }
        } catch (IllegalStateException kept) {
            System.out.println("pending " + kept.getMessage());
        } catch (Exception other) {
            System.out.println("pending lost " + other);
        }
    }

    /** Lambdas, and a hidden class of the application's own. */
    static void hidden() throws Throwable {
        int base = 40;
        IntSupplier lambda = () -> base + 2;
        Class<?> hidden = MethodHandles.lookup()
            .defineHiddenClass(Copies.bytes(8400), true)
            .lookupClass();
        System.out.println("hidden " + lambda.getAsInt() + " " + call(hidden, 1));
    }

    /** More classes than one array has slots for. */
    static void many(int count) throws Exception {
        Copies loader = new Copies();
        int sum = 0;
        for (int i = 1; i <= count; i++) {
            sum += call(loader.copy(i), i % 4);
        }
        System.out.println("many " + sum);
    }

    /** Threads that do nothing but define classes, whose bytes were generated before. */
    static void burst(int threads, int each) throws Exception {
        Copies loader = new Copies();
        byte[][] bytes = new byte[threads * each][];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = Copies.bytes(i + 1);
        }
        AtomicInteger sum = new AtomicInteger();
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Thread> started = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int first = t * each;
            Thread thread = new Thread(() -> {
                try {
                    start.await();
                    for (int i = first; i < first + each; i++) {
                        sum.addAndGet(call(loader.define(null, bytes[i], Loading.class.getProtectionDomain()), i % 4));
                    }
                } catch (Exception other) {
                    other.printStackTrace();
                }
            });
            started.add(thread);
            thread.start();
        }
        for (Thread thread : started) {
            thread.join();
        }
        System.out.println("burst " + sum);
    }

    /** Bytes that are no class file reach the JVM unchanged. */
    static void garbage() {
        class Bare extends ClassLoader {
            Class<?> define(byte[] bytes) {
                return defineClass(null, bytes, 0, bytes.length, Loading.class.getProtectionDomain());
            }
        }
        byte[][] bad = {{}, {1, 2, 3}, {(byte) 0xCA, (byte) 0xFE, (byte) 0xBA, (byte) 0xBE, 0, 0, 0, 52, 0, 9, 1}};
        for (byte[] bytes : bad) {
            try {
                new Bare().define(bytes);
                System.out.println("garbage loaded");
            } catch (ClassFormatError expected) {
                System.out.println("garbage refused");
            }
        }
    }
}
