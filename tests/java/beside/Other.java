import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.ProtectionDomain;
import java.util.Arrays;

/**
 * Another agent: {@code incapable:FILE} returns Target's bytes from a file, {@code capable:} edits the bytes that it gets,
 * {@code weaving:} does so at load time alone, {@code breaking:} cuts it short when it is retransformed.
 */
public class Other implements ClassFileTransformer {
    static Instrumentation instrumentation;
    private final byte[] replacement;
    private final boolean breaking;

    private Other(byte[] replacement, boolean breaking) {
        this.replacement = replacement;
        this.breaking = breaking;
    }

    public static void premain(String options, Instrumentation given) throws Exception {
        instrumentation = given;
        String[] parts = options.split(":", 2);
        switch (parts[0]) {
            case "none": break;
            case "incapable": given.addTransformer(new Other(Files.readAllBytes(Paths.get(parts[1])), false), false); break;
            case "weaving": given.addTransformer(new Other(null, false), false); break;
            case "capable": given.addTransformer(new Other(null, false), true); break;
            case "breaking": given.addTransformer(new Other(null, true), true); break;
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
        if (breaking) {
            return type == null ? null : Arrays.copyOf(bytes, bytes.length / 2);
        }
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        return text.replace("plain", "other").getBytes(StandardCharsets.ISO_8859_1);
    }
}
