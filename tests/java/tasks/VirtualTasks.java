import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Tasks of virtual threads. */
public class VirtualTasks {
    /** Two virtual threads of an executor, one of which waits for another. */
    static void virtual() throws Exception {
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            executor.submit(() -> Tasks.work("virtual")).get();
            executor.submit(() -> executor.submit(() -> Tasks.work("virtual")).get()).get();
        }
        Thread thread = Thread.startVirtualThread(() -> {
            Thread.yield();
            Tasks.work("virtual");
        });
        thread.join();
    }

    public static void all() throws Exception {
        virtual();
    }
}
