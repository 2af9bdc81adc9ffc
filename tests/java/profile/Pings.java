import java.nio.ByteBuffer;
import java.nio.channels.Pipe;

/** A thread that computes for 1 ms each time that it is woken up, and else waits in native code, for a second and at the end. */
public class Pings {
    static volatile long sink;

    static void compute() {
        long until = System.nanoTime() + 1_000_000;
        while (System.nanoTime() < until) {
            for (int i = 0; i < 1_000; i++) {
                sink = sink * 31 + i;
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Pipe pipe = Pipe.open();
        Thread serves = new Thread(() -> {
            try {
                ByteBuffer one = ByteBuffer.allocate(1);
                while (pipe.source().read(one) == 1) {
                    compute();
                    one.clear();
                }
            } catch (java.io.IOException failed) {
                throw new java.io.UncheckedIOException(failed);
            }
        }, "serves");
        serves.setDaemon(true);
        serves.start();
        for (int i = 0; i < 200; i++) {
            pipe.sink().write(ByteBuffer.allocate(1));
            Thread.sleep(5);
        }
    }
}
