import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Loads the same two classes in many loaders at the same time, and counts the sums of their results. */
public class Loaders {
    static int call(int number) {
        return 10 * number;
    }

    public static class One {
        public static int both() {
            return call(1) + 1;
        }

        static int call(int number) {
            return Loaders.call(number);
        }
    }

    public static class Other {
        public static int both() {
            return One.call(1) + 1;
        }
    }

    /** Locks itself while it loads, and delegates only `java` packages to its parent. */
    static class Alone extends ClassLoader {
        Alone() {
            super(null);
        }

        @Override
        protected synchronized Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            Class<?> found = findLoadedClass(name);
            if (found != null) return found;
            if (name.startsWith("java.")) return super.loadClass(name, resolve);
            try (InputStream in = Loaders.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length, Loaders.class.getProtectionDomain());
            } catch (java.io.IOException error) {
                throw new ClassNotFoundException(name, error);
            }
        }
    }

    static int both(ClassLoader loader, String name, CyclicBarrier begin) throws Exception {
        begin.await();
        return (int) loader.loadClass(name).getMethod("both").invoke(null);
    }

    public static void main(String[] arguments) throws Exception {
        URL[] here = {Loaders.class.getProtectionDomain().getCodeSource().getLocation()};
        List<ClassLoader> loaders = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            loaders.add(i % 2 == 0 ? new Alone() : new URLClassLoader(here, null));
        }
        ExecutorService threads = Executors.newFixedThreadPool(2);
        TreeMap<Integer, Integer> sums = new TreeMap<>();
        for (ClassLoader loader : loaders) {
            CyclicBarrier begin = new CyclicBarrier(2);
            List<Future<Integer>> results = threads.invokeAll(List.<Callable<Integer>>of(
                () -> both(loader, "Loaders$One", begin), () -> both(loader, "Loaders$Other", begin)));
            int sum = results.get(0).get() + results.get(1).get();
            sums.merge(sum, 1, Integer::sum);
        }
        threads.shutdown();
        System.out.println(sums);
    }
}
