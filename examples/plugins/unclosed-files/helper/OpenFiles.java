import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/** The open streams, each with the stack that opened it. */
final class OpenFiles extends Thread {
    private static final Map<Object, StackTraceElement[]> OPEN = Collections.synchronizedMap(new WeakHashMap<>());

    static {
        Runtime.getRuntime().addShutdownHook(new OpenFiles());
    }

    static void opened(Object stream) {
        OPEN.put(stream, Thread.currentThread().getStackTrace());
    }

    static void closed(Object stream) {
        OPEN.remove(stream);
    }

    /** Prints open streams at the end of the JVM, without those of the JDK itself. */
    @Override
    public void run() {
        for (Map.Entry<Object, StackTraceElement[]> open : OPEN.entrySet()) {
            for (StackTraceElement frame : open.getValue()) {
                String caller = frame.getClassName();
                if (caller.equals("java.lang.Thread") || caller.startsWith("java.io.")) continue;
                if (!caller.matches("(java|javax|jdk|sun)\\..*")) {
                    System.err.println("never closed: " + open.getKey().getClass().getName() + " of " + frame);
                }
                break;
            }
        }
    }
}
