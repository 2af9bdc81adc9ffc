import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Virtual threads whose calls are left on another carrier than they were entered on. */
public class VirtualSpans {
    public static void main(String[] arguments) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            int number = i;
            threads.add(Thread.ofVirtual().start(() -> outer(number)));
        }
        for (Thread thread : threads) thread.join();
    }

    static int outer(int number) {
        int sum = 0;
        for (int i = 0; i < 5; i++) sum += inner(number * 10 + i);
        return sum;
    }

    static int inner(int number) {
        LockSupport.parkNanos(100_000);
        Thread.yield();
        return number;
    }
}
