import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** Objects with known holders. The program waits for the end of its standard input. */
public class Held {
    static class InMap {}

    static class InBox {}

    static class InLocal {}

    static class InThread {}

    static class Weakly {}

    /** A list whose links are of one class, and a tree. */
    static class Link {
        Link next;
    }

    static class Branch {
        Branch left;
        Branch right;
        Object leaf;
    }

    static class Leaf {}

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
    static Link first;
    static Branch tree = new Branch();
    static WeakReference<Object> weak;
    static SoftReference<Object> soft;

    /** In a method of its own, so that no local variable of a running one holds these. */
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
        for (int length = 0; length < 1_000; length++) {
            Link link = new Link();
            link.next = first;
            first = link;
        }
        for (int way = 0; way < 64; way++) {
            Branch at = tree;
            for (int turn = 0; turn < 6; turn++) {
                boolean isLeft = (way >> turn & 1) == 0;
                Branch below = isLeft ? at.left : at.right;
                below = below == null ? new Branch() : below;
                if (isLeft) {
                    at.left = below;
                } else {
                    at.right = below;
                }
                at = below;
            }
            at.leaf = new Leaf();
        }
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
