import java.net.ServerSocket;
import java.util.concurrent.locks.LockSupport;

/** Threads that each stay in one state, and a crowd of parked threads. They are ready once it prints "up". */
public class States {
    static final Object monitor = new Object();
    static final Object condition = new Object();
    static volatile long turns;

    interface Body {
        void run() throws Exception;
    }

    static Thread start(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static void await(Thread thread, Thread.State state) {
        while (thread.getState() != state) {
            Thread.yield();
        }
    }

    static void sleep() throws Exception {
        Thread.sleep(Long.MAX_VALUE);
    }

    static void park() {
        while (true) {
            LockSupport.park(monitor);
        }
    }

    static void waitForIt() throws Exception {
        synchronized (condition) {
            while (true) {
                condition.wait();
            }
        }
    }

    static void enter() {
        synchronized (monitor) {
            turns++;
        }
    }

    static void spin() {
        while (true) {
            turns++;
        }
    }

    /** A sleeping virtual thread, if the release has them. */
    static void sleepVirtually() throws Exception {
        Runnable sleeps = () -> {
            try {
                sleep();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        };
        try {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, sleeps);
        } catch (NoSuchMethodException before21) {
            turns++;
        }
    }

    public static void main(String[] arguments) throws Exception {
        await(start("sleeper", States::sleep), Thread.State.TIMED_WAITING);
        await(start("parker", States::park), Thread.State.WAITING);
        await(start("waiter", States::waitForIt), Thread.State.WAITING);
        ServerSocket socket = new ServerSocket(0);
        Thread acceptor = start("acceptor", socket::accept);
        StackTraceElement[] stack = acceptor.getStackTrace();
        while (stack.length == 0 || !stack[0].isNativeMethod()) {
            Thread.yield();
            stack = acceptor.getStackTrace();
        }
        start("runner", States::spin);
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            await(start("crowd-" + i, States::park), Thread.State.WAITING);
        }
        sleepVirtually();
        synchronized (monitor) {
            await(start("blocked", States::enter), Thread.State.BLOCKED);
            System.out.println("up");
            System.in.read();
        }
        System.exit(0);
    }
}
