import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;

/** Replaces classes by those of a folder as the JVM loads them, and gives native methods a prefix. */
public class Agent {
    static Instrumentation instrumentation;

    public static void premain(String folder, Instrumentation found) {
        instrumentation = found;
        ClassFileTransformer transformer = new ClassFileTransformer() {
            @Override
            public byte[] transform(
                ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] bytes) {
                Path file = Path.of(folder, name + ".class");
                try {
                    return type == null && Files.exists(file) ? Files.readAllBytes(file) : null;
                } catch (IOException problem) {
                    throw new IllegalStateException(problem);
                }
            }
        };
        found.addTransformer(transformer);
        found.setNativeMethodPrefix(transformer, "$$wrapped$$");
    }
}
