import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** Objects that are held in ways that the program knows; it waits for the end of its standard input. */
public class Held {
    static class InMap {}

    static class InBox {}

    static class InLocal {}

    static class InThread {}

    static class Weakly {}

    static class Nobody {}

    static class Gate {}

    static final Gate GATE = new Gate();

    /** An interface with fields, which JVM TI counts before those of the class. */
    interface Marked {
        int ONE = Integer.parseInt("1");
        int TWO = Integer.parseInt("2");
    }

    static class Box implements Marked {
        int before;
        Object content;
    }

    static class Holder extends Thread {
        final Object mine = new InThread();
        final CountDownLatch ready = new CountDownLatch(1);

        Holder() {
            super("holder");
            setDaemon(true);
        }

        @Override
        public void run() {
            Object held = new InLocal();
            synchronized (GATE) {
                ready.countDown();
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException end) {
                    System.out.println(held);
                }
            }
        }
    }

    static final Map<String, Object[]> CACHE = new HashMap<>();
    static Object other = new Box();
    static WeakReference<Object> weak;
    static SoftReference<Object> soft;

    /** In a method of its own: no local variable of one that runs holds these. */
    static void fill() {
        Object[] row = new Object[3];
        row[1] = new InMap();
        row[2] = new InMap();
        CACHE.put("row", row);
        Object[] many = new Object[1_500];
        for (int at = 0; at < many.length; at++) {
            Box box = new Box();
            box.content = new InBox();
            many[at] = box;
        }
        ((Box) other).content = many;
        weak = new WeakReference<>(new Weakly());
        soft = new SoftReference<>(weak.get());
    }

    public static void main(String[] arguments) throws Exception {
        fill();
        Holder holder = new Holder();
        holder.start();
        holder.ready.await();
        holder = null;
        System.out.println("up");
        System.in.read();
        System.out.println("down");
    }
}
