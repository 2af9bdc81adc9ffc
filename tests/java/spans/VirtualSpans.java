import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Virtual threads whose calls are left on another carrier than they were entered on. */
public class VirtualSpans {
    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            crowd(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
            return;
        }
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            int number = i;
            threads.add(Thread.ofVirtual().start(() -> outer(number)));
        }
        for (Thread thread : threads) thread.join();
    }

    /** Platform threads and virtual ones that make calls side by side. */
    static void crowd(int platform, int virtual, int calls) throws Exception {
        List<Thread> threads = new ArrayList<>();
        Runnable run = () -> {
            for (int call = 0; call < calls; call++) {
                step(call);
                if (call % 1_000 == 999) Thread.yield();
            }
        };
        for (int i = 0; i < platform; i++) threads.add(Thread.ofPlatform().start(run));
        for (int i = 0; i < virtual; i++) threads.add(Thread.ofVirtual().start(run));
        for (Thread thread : threads) thread.join();
    }

    static int step(int number) {
        return number + 1;
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
