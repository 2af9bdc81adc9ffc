import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.ProtectionDomain;

/** Another agent: {@code incapable:FILE} gives Target's bytes from a file, {@code capable:} edits what it is handed. */
public class Other implements ClassFileTransformer {
    static Instrumentation instrumentation;
    private final byte[] replacement;

    private Other(byte[] replacement) {
        this.replacement = replacement;
    }

    public static void premain(String options, Instrumentation given) throws Exception {
        instrumentation = given;
        String[] parts = options.split(":", 2);
        switch (parts[0]) {
            case "none": break;
            case "incapable": given.addTransformer(new Other(Files.readAllBytes(Paths.get(parts[1]))), false); break;
            case "capable": given.addTransformer(new Other(null), true); break;
            default: throw new IllegalArgumentException(options);
        }
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] bytes) {
        if (!"Target".equals(name)) {
            return null;
        }
        if (replacement != null) {
            return replacement;
        }
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        return text.replace("plain", "other").getBytes(StandardCharsets.ISO_8859_1);
    }
}
