import load.Load;

/** Calls {@link #step} a thousand times a second, and every method of the classes of {@code load} in turn. */
public final class Served {
    static volatile long sum;

    public static void main(String[] arguments) throws Exception {
        Thread busy = new Thread(() -> {
            while (true) {
                sum += Load.all((int) sum);
                pause();
            }
        });
        busy.setDaemon(true);
        busy.start();
        System.out.println("ready");
        while (true) {
            sum += step((int) sum);
            pause();
        }
    }

    static int step(int last) {
        return last * 31 + 7;
    }

    private static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }
}
