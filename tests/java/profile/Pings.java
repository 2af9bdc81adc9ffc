import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;

/** A thread that computes for some 2 ms each time that it is woken up, and otherwise waits in native code, 150 times and at the end. */
public class Pings {
    static final int PINGS = 150;
    static volatile long sink;
    static volatile int served;

    /** A fixed amount of work, not of time: on a busy machine it gets little CPU time. */
    static void compute(int turns) {
        for (int i = 0; i < turns; i++) {
            sink = sink * 31 + i;
        }
    }

    /** Starts a thread that computes for each byte that it reads. */
    static Pipe.SinkChannel serve(String name, int turns) throws IOException {
        Pipe pipe = Pipe.open();
        Thread serves = new Thread(() -> {
            try {
                ByteBuffer one = ByteBuffer.allocate(1);
                for (int i = 1; pipe.source().read(one) == 1; i++) {
                    compute(turns);
                    one.clear();
                    served = i;
                }
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }, name);
        serves.setDaemon(true);
        serves.start();
        return pipe.sink();
    }

    static void ping(Pipe.SinkChannel served, int times, long pause) throws Exception {
        for (int i = 0; i < times; i++) {
            served.write(ByteBuffer.allocate(1));
            Thread.sleep(pause);
        }
        while (Pings.served != times) {
            Thread.sleep(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        // The reading code is loaded and compiled by then, so it takes next to nothing of the other thread's time.
        ping(serve("warms up", 3_000), 3_000, 0);
        ping(serve("serves", 700_000), PINGS, 7);
    }
}
