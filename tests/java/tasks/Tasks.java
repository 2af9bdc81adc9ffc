import java.util.Arrays;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Tasks of each kind. Each calls `work` with the name of the method that submitted it. */
public class Tasks {
    static final ExecutorService POOL = Executors.newFixedThreadPool(3, Tasks::daemon);
    static final ExecutorService ONE = Executors.newFixedThreadPool(1, Tasks::daemon);
    static final LinkedBlockingQueue<Runnable> QUEUE = new LinkedBlockingQueue<>();

    static Thread daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }

    static String work(String by) {
        return by;
    }

    /** Three ways to submit a task to a pool. */
    static void pool() throws Exception {
        POOL.submit(() -> { work("pool"); }).get();
        POOL.submit(() -> work("pool")).get();
        CountDownLatch done = new CountDownLatch(1);
        POOL.execute(() -> {
            work("pool");
            done.countDown();
        });
        done.await();
        for (Future<String> future : POOL.invokeAll(Arrays.<Callable<String>>asList(() -> work("pool"), () -> work("pool")))) {
            future.get();
        }
    }

    /** A task that submits another. */
    static void nested() throws Exception {
        POOL.submit(() -> ONE.submit(() -> work("nested")).get()).get();
    }

    static void scheduled() throws Exception {
        ScheduledExecutorService scheduler = Executors.newScheduledThreadPool(1, Tasks::daemon);
        scheduler.schedule(() -> work("scheduled"), 1, TimeUnit.MILLISECONDS).get();
        CountDownLatch rounds = new CountDownLatch(3);
        ScheduledFuture<?> periodic = scheduler.scheduleAtFixedRate(() -> {
            if (rounds.getCount() > 0) {
                work("scheduled");
            }
            rounds.countDown();
        }, 0, 1, TimeUnit.MILLISECONDS);
        rounds.await();
        periodic.cancel(false);
        scheduler.shutdown();
    }

    /** Eight leaves of a tree of tasks, and a task from outside of the pool. */
    static void forked() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(3);
        pool.submit(new Fork(3, "forked")).get();
        pool.submit(() -> { work("forked"); }).get();
        pool.shutdown();
    }

    static class Fork extends RecursiveAction {
        final int depth;
        final String by;

        Fork(int depth, String by) {
            this.depth = depth;
            this.by = by;
        }

        @Override
        protected void compute() {
            if (depth == 0) {
                work(by);
                return;
            }
            Fork other = new Fork(depth - 1, by);
            other.fork();
            new Fork(depth - 1, by).compute();
            other.join();
        }
    }

    static void parallel() {
        IntStream.range(0, 200).parallel().forEach(number -> work("parallel"));
    }

    /** Stages on the common pool, one on a pool of its own, and one that follows from two. */
    static void stages() throws Exception {
        CountDownLatch composed = new CountDownLatch(1);
        CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> {
            await(composed);
            return work("stages");
        });
        CompletableFuture<String> second = CompletableFuture.supplyAsync(() -> work("stages"), POOL);
        CompletableFuture<Void> all = first.thenApplyAsync(text -> work(text))
                .thenCombine(second, (one, other) -> work(one))
                .thenAcceptAsync(text -> work(text), POOL);
        composed.countDown();
        all.get();
        CompletableFuture.runAsync(() -> work("stages"), POOL).thenRunAsync(() -> work("stages")).get();
    }

    /** An executor that is not the JDK's: its thread takes tasks from a queue. */
    static void foreign() throws Exception {
        Executor executor = QUEUE::add;
        CompletableFuture.supplyAsync(() -> work("foreign"), executor).thenApplyAsync(text -> work(text), executor).get();
    }

    static void threads() throws Exception {
        Thread thread = new Thread(() -> work("threads"));
        thread.start();
        thread.join();
    }

    static void timed() throws Exception {
        Timer timer = new Timer(true);
        CountDownLatch done = new CountDownLatch(1);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                work("timed");
                done.countDown();
            }
        }, 1);
        done.await();
        timer.cancel();
    }

    /** The pool is full, so the caller runs the task. */
    static void rejected() throws Exception {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new SynchronousQueue<>(),
                Tasks::daemon, new ThreadPoolExecutor.CallerRunsPolicy());
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        pool.execute(() -> {
            begun.countDown();
            await(end);
        });
        begun.await();
        pool.submit(() -> work("rejected")).get();
        end.countDown();
        pool.shutdown();
    }

    /** A task that runs as often as it is submitted. */
    static class Twice implements Runnable {
        final CountDownLatch runs = new CountDownLatch(2);

        @Override
        public void run() {
            runs.countDown();
        }
    }

    static void firstTime(Twice task) {
        ONE.execute(task);
    }

    static void secondTime(Twice task) {
        ONE.execute(task);
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    static void all() throws Exception {
        Thread consumer = daemon(() -> {
            while (true) {
                try {
                    QUEUE.take().run();
                } catch (InterruptedException interrupted) {
                    return;
                }
            }
        });
        consumer.start();
        pool();
        nested();
        scheduled();
        forked();
        parallel();
        stages();
        foreign();
        threads();
        timed();
        rejected();
        Twice twice = new Twice();
        firstTime(twice);
        secondTime(twice);
        twice.runs.await();
    }

    static void early(CountDownLatch gate) {
        ONE.execute(() -> await(gate));
        ONE.execute(() -> work("nobody"));
    }

    static void later() throws Exception {
        ONE.submit(() -> work("later")).get();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0 && arguments[0].equals("late")) {
            CountDownLatch gate = new CountDownLatch(1);
            early(gate);
            System.out.println("ready");
            System.in.read();
            gate.countDown();
            later();
            System.out.println("done");
            while (System.in.read() >= 0) {
                // until the end
            }
            return;
        }
        all();
        if (arguments.length > 0) {
            Class.forName(arguments[0]).getMethod("all").invoke(null);
        }
        System.out.println("done");
    }
}
