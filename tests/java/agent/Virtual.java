import java.util.concurrent.CountDownLatch;

/** Classes first used in virtual threads. */
public class Virtual {
    public static void main(String[] arguments) throws Exception {
        int threads = 200;
        CountDownLatch done = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            int n = i;
            Thread.startVirtualThread(() -> {
                try {
                    new Loading.Copies().copy(9000 + n % 50).getMethod("pick", int.class).invoke(null, 1);
                    Thread.yield();
                    Inner.used(n);
                } catch (ReflectiveOperationException other) {
                    other.printStackTrace();
                } catch (Exception other) {
                    throw new IllegalStateException(other);
                } finally {
                    done.countDown();
                }
            });
        }
        done.await();
        System.out.println("virtual " + Inner.count.get());
    }

    static class Inner {
        static final java.util.concurrent.atomic.AtomicInteger count = new java.util.concurrent.atomic.AtomicInteger();

        static void used(int n) {
            count.incrementAndGet();
        }
    }
}
