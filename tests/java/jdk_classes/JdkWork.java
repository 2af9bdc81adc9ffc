import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Works with classes of the JDK, once for each order, and prints the result, which is always the same. */
public class JdkWork {
    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            System.out.println(work());
            return;
        }
        System.out.println("up");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        while (input.readLine() != null) {
            System.out.println(work());
        }
    }

    private static String work() throws Exception {
        new Finalized();
        StringBuilder text = new StringBuilder();
        text.append(maps()).append(' ').append(streams()).append(' ').append(threads()).append(' ').append(reflection());
        text.append(' ').append(exceptions()).append(' ').append(virtualThreads()).append(' ').append(recursion(200));
        return text.toString();
    }

    private static int maps() {
        Map<String, Integer> concurrent = new ConcurrentHashMap<>();
        Map<String, Integer> hashed = new HashMap<>();
        TreeMap<String, Integer> sorted = new TreeMap<>();
        ArrayDeque<Integer> queue = new ArrayDeque<>();
        for (int number = 0; number < 50; number++) {
            concurrent.merge("k" + number % 7, number, Integer::sum);
            hashed.put("k" + number, number);
            sorted.put(String.format("%03d", number), number);
            queue.addFirst(number);
        }
        List<Integer> values = new ArrayList<>(concurrent.values());
        Collections.sort(values);
        return values.get(0) + hashed.size() + sorted.firstEntry().getValue() + queue.pollLast();
    }

    private static String streams() {
        return IntStream.range(0, 20).filter(number -> number % 3 == 0).mapToObj(Integer::toString).collect(Collectors.joining("-"));
    }

    private static int threads() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        ReentrantLock lock = new ReentrantLock();
        int[] sum = {0};
        List<Future<?>> all = new ArrayList<>();
        for (int task = 0; task < 6; task++) {
            int amount = task;
            all.add(pool.submit(() -> {
                lock.lock();
                try {
                    sum[0] += amount;
                } finally {
                    lock.unlock();
                }
            }));
        }
        for (Future<?> one : all) {
            one.get();
        }
        pool.shutdown();
        return sum[0] + CompletableFuture.supplyAsync(() -> 4).thenApply(number -> number + 1).get();
    }

    private static String reflection() throws Exception {
        Method method = String.class.getMethod("isEmpty");
        Class<?> loaded = Class.forName("java.util.zip.CRC32", true, JdkWork.class.getClassLoader());
        Object made = loaded.getDeclaredConstructor().newInstance();
        loaded.getMethod("update", int.class).invoke(made, 7);
        return method.invoke("") + "" + loaded.getMethod("getValue").invoke(made);
    }

    private static int exceptions() {
        int caught = 0;
        for (int number = 0; number < 5; number++) {
            try {
                Optional.ofNullable(number % 2 == 0 ? null : "x").orElseThrow(IllegalStateException::new);
            } catch (IllegalStateException expected) {
                caught += expected.getStackTrace().length > 0 ? 1 : 0;
            }
        }
        return caught;
    }

    /** By reflection, if the release has them: the class is compiled for the oldest. */
    private static int virtualThreads() throws Exception {
        Method factory;
        try {
            factory = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
        } catch (NoSuchMethodException old) {
            return 6;
        }
        ExecutorService pool = (ExecutorService) factory.invoke(null);
        List<Future<Integer>> all = new ArrayList<>();
        for (int task = 0; task < 4; task++) {
            int amount = task;
            all.add(pool.submit(() -> {
                Thread.sleep(1);
                return amount;
            }));
        }
        int sum = 0;
        for (Future<Integer> one : all) {
            sum += one.get();
        }
        pool.shutdown();
        return sum;
    }

    private static int recursion(int depth) {
        return depth == 0 ? 0 : recursion(depth - 1) + 1;
    }

    /** With such a class the JVM compiles the constructor of Object differently. */
    private static class Finalized {
        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() {}
    }
}
