import java.lang.reflect.Method;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Threads that wait for locks of the main thread: a platform thread to the end, and a virtual one, if any, for a while. */
public class Parked {
    static void take(ReentrantLock lock) {
        lock.lock();
        lock.unlock();
    }

    static void await(ReentrantLock lock, Thread thread) throws Exception {
        while (!lock.hasQueuedThread(thread) || thread.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
    }

    /** A virtual thread, or none before JDK 21. */
    static Thread virtual(String name, Runnable body) throws Exception {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            Object named = type.getMethod("name", String.class).invoke(builder, name);
            Method start = type.getMethod("start", Runnable.class);
            return (Thread) start.invoke(named, body);
        } catch (NoSuchMethodException old) {
            return null;
        }
    }

    static Thread daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        ReentrantLock other = new ReentrantLock();
        lock.lock();
        other.lock();
        Thread waits = daemon("platform", () -> take(lock));
        Thread parks = daemon("nameless", LockSupport::park);
        Thread virtual = virtual("virtual", () -> take(other));
        if (virtual != null) {
            await(other, virtual);
            other.unlock();
            virtual.join();
        }
        await(lock, waits);
        while (parks.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        System.out.println("parked");
    }
}
