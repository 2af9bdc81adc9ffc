import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Paths;
import java.security.MessageDigest;
import java.security.ProtectionDomain;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Calls {@code Answer.value} from several threads, in this loader and in another, and prints its answer
 * whenever that changes; loads the classes named by its arguments. As an agent, retransforms the class all the
 * time and prints the digest of the bytes that it receives whenever that changes.
 */
public class Patched {
    static volatile Instrumentation instrumentation;
    static volatile String seen = "";
    static final AtomicLong calls = new AtomicLong();

    public static void premain(String arguments, Instrumentation given) {
        instrumentation = given;
        given.addTransformer(new Witness(), true);
    }

    static class Witness implements ClassFileTransformer {
        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
            // Not `Answer.class`, which would load it while it is being loaded.
            if ("Answer".equals(name) && old != null && loader == Patched.class.getClassLoader()) {
                try {
                    StringBuilder hex = new StringBuilder();
                    for (byte b : MessageDigest.getInstance("SHA-256").digest(bytes)) {
                        hex.append(String.format("%02x", b));
                    }
                    seen = hex.toString();
                } catch (Exception impossible) {
                    seen = impossible.toString();
                }
            }
            return null;
        }
    }

    public static void main(String[] names) throws Exception {
        for (String name : names) {
            Class.forName(name, false, Patched.class.getClassLoader());
        }
        // JDK 17 passes half of a class in its internal form to an agent while another thread is linking it.
        Answer.value();
        URL[] here = {Paths.get(System.getProperty("java.class.path")).toUri().toURL()};
        Method other = new URLClassLoader(here, null).loadClass("Answer").getMethod("value");
        for (int number = 0; number < 3; number++) {
            Thread thread = new Thread(() -> {
                while (true) {
                    if (Answer.value().length() > 20) {
                        throw new IllegalStateException();
                    }
                    calls.incrementAndGet();
                    Thread.yield();
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        String last = "";
        String lastSeen = "";
        while (true) {
            if (instrumentation != null) {
                instrumentation.retransformClasses(Answer.class);
            }
            String now = "app " + Answer.value() + " other " + other.invoke(null);
            if (!now.equals(last)) {
                System.out.println(now);
                last = now;
            }
            if (!seen.equals(lastSeen)) {
                lastSeen = seen;
                System.out.println("bytes " + lastSeen);
            }
            Thread.sleep(5);
        }
    }
}
