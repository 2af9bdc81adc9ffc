import java.util.ArrayList;
import java.util.List;

/** Calls, field accesses and allocations that edits replace. */
public class Calls {
    static int shared = 1;
    long own = 2;

    static class Base {
        final String text;

        Base(String text, boolean loud) {
            this.text = loud ? text.toUpperCase() : text;
        }

        String say(long times) {
            return "base " + text + " " + times;
        }
    }

    static class Sub extends Base {
        Sub(String text, boolean loud) {
            super("sub " + text, loud);
        }
    }

    static class Hooks {
        static final List<String> SEEN = new ArrayList<>();
        static int other = 10;
        static long lone = 20;

        static String said(Base receiver, long times) {
            SEEN.add("said " + times);
            return "hooked " + receiver.text;
        }

        static int read() {
            SEEN.add("read");
            return 30;
        }

        static void wrote(Object receiver, long value) {
            SEEN.add("wrote " + value + " " + (receiver instanceof Calls));
        }

        static Object made(String text, boolean loud) {
            SEEN.add("made " + text + " " + loud);
            return new Sub(text, loud);
        }

        static void measured(Base receiver, long times, long nanos, String result) {
            SEEN.add("measured " + receiver.text + " " + times + " " + (nanos >= 0) + " " + result);
        }

        static void around(String when) {
            SEEN.add(when);
        }
    }

    static String call(Base base) {
        return base.say(3L);
    }

    static String removed(Base base) {
        return base.say(4L);
    }

    static String instead(Base base) {
        return base.say(5L);
    }

    static int readStatic() {
        return shared;
    }

    static int readOther() {
        return shared;
    }

    long readOwn() {
        return own;
    }

    void writeOwn(long value) {
        own = value;
    }

    void writeLone(long value) {
        own = value;
    }

    static String allocated(boolean loud) {
        return new Base(loud ? "a" : "b", loud).text;
    }

    static String built(boolean loud) {
        return new Base("c", loud).text;
    }

    static String wrapped(Base base) {
        return base.say(6L);
    }

    static String measured(Base base) {
        return base.say(7L);
    }

    static String limited(Base base, long times) {
        try {
            return "it is " + base.say(times);
        } catch (RuntimeException e) {
            return e.toString();
        }
    }

    static String locked(Object lock) {
        synchronized (lock) {
            return "held " + Thread.holdsLock(lock) + new int[2][3].length;
        }
    }

    public static void main(String[] arguments) {
        Base base = new Base("x", false);
        System.out.println(call(base));
        System.out.println(removed(base));
        System.out.println(instead(base));
        System.out.println(readStatic() + " " + readOther());
        Calls calls = new Calls();
        System.out.println(calls.readOwn());
        calls.writeOwn(7);
        calls.writeLone(8);
        System.out.println(calls.own + " " + Hooks.lone);
        System.out.println(allocated(true) + " " + allocated(false) + " " + built(true));
        System.out.println(wrapped(base));
        System.out.println(measured(base));
        System.out.println(limited(base, 2) + ", " + limited(base, 9));
        System.out.println(locked(base));
        System.out.println(Hooks.SEEN);
    }
}
