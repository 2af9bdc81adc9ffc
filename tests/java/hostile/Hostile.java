import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;

/** Prints "up", and for each line of input calls a method whose name, class and thread contain control characters. */
public class Hostile {
    /** As long as the letters in the names below, in modified UTF-8. */
    static final String EVIL = "\u001bc\u009b2J\rx\nclasshook: error\u202e";
    static final String LETTERS = "XXXXXXXXXXXXXXXXXXXXXXXXXXXX";

    public static void main(String[] arguments) throws Exception {
        Method method = load().getDeclaredMethods()[0];
        method.setAccessible(true);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("up");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Thread thread = new Thread(() -> {
                try {
                    method.invoke(null, EVIL);
                } catch (ReflectiveOperationException error) {
                    throw new AssertionError(error);
                }
            }, EVIL);
            thread.start();
            thread.join();
            System.out.println("called");
        }
    }

    static Class<?> load() throws Exception {
        String victim = "Hostile$Victim" + LETTERS;
        byte[] bytes;
        try (InputStream file = Hostile.class.getResourceAsStream(victim + ".class")) {
            String text = new String(file.readAllBytes(), StandardCharsets.ISO_8859_1);
            String evil = new String(EVIL.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
            if (evil.length() != LETTERS.length()) {
                throw new AssertionError(evil.length());
            }
            bytes = text.replace(LETTERS, evil).getBytes(StandardCharsets.ISO_8859_1);
        }
        ProtectionDomain domain = Hostile.class.getProtectionDomain();
        return new ClassLoader() {
            Class<?> define() {
                return defineClass(null, bytes, 0, bytes.length, domain);
            }
        }.define();
    }

    static class VictimXXXXXXXXXXXXXXXXXXXXXXXXXXXX {
        static int callXXXXXXXXXXXXXXXXXXXXXXXXXXXX(String text) {
            return text.length();
        }
    }
}
