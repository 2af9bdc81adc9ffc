import java.util.concurrent.CountDownLatch;

/** A program that ends, or does not end, in each of the ways a JVM knows. */
public class Life {
    public static void main(String[] arguments) throws Exception {
        System.out.println("started " + work(1));
        switch (arguments[0]) {
            case "end": break;
            case "exit": exit(); break;
            case "halt": halt(); break;
            case "throw": fail(); break;
            case "daemon": daemon(); break;
            case "wait": new CountDownLatch(1).await(); break;
            case "rounds": rounds(); break;
            case "late": late(); break;
            case "made": made(); break;
            default: throw new IllegalArgumentException(arguments[0]);
        }
        System.out.println("ended");
    }

    static int work(int n) {
        return n > 0 ? Victim.twice(n) : -n;
    }

    /** The class on which a misbehaving plugin fails. */
    static class Victim {
        static int twice(int n) {
            return n * 2;
        }
    }

    static void exit() {
        Runtime.getRuntime().addShutdownHook(new Thread(Life::hook));
        System.exit(7);
    }

    static void hook() {
        System.out.println("hook");
    }

    static void halt() {
        Runtime.getRuntime().halt(9);
    }

    static void fail() {
        throw new IllegalStateException("on purpose");
    }

    /** Daemon threads run on while the JVM ends. */
    static void daemon() {
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> { while (true) { work(-1); } });
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Calls one new class after the other and prints its name, until it is killed. */
    static void rounds() throws Exception {
        Loading.Copies loader = new Loading.Copies();
        for (int i = 1; ; i++) {
            Class<?> type = loader.copy(i);
            Loading.call(type, i % 4);
            System.out.println("called " + type.getName() + " " + System.currentTimeMillis());
            Thread.sleep(1);
        }
    }

    /** Calls one method of {@link Steps} repeatedly. */
    static void late() throws Exception {
        while (!Boolean.getBoolean("never")) {
            Steps.run(3);
            Thread.sleep(5);
        }
    }

    /** Calls a class that was generated at run time and has no file, repeatedly. */
    static void made() throws Exception {
        Class<?> type = new Loading.Copies().copy(4321);
        System.out.println("made " + Loading.call(type, 1));
        while (!Boolean.getBoolean("never")) {
            Loading.call(type, 2);
            Thread.sleep(5);
        }
    }

    static class Steps {
        static void run(int step) {
            switch (step) {
                case 0: zero(); break;
                case 1: one(); break;
                case 2: two(); break;
                case 3: three(); break;
                default: other(); break;
            }
        }

        static void zero() { }
        static void one() { }
        static void two() { }
        static void three() { }
        static void other() { }
        static void never() { }
    }
}
