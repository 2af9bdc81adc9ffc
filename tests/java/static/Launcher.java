import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarInputStream;

/** Starts a program from a jar within its own jar, as Spring Boot does. */
public class Launcher extends ClassLoader {
    private final Map<String, byte[]> classes = new HashMap<>();

    Launcher(InputStream jar) throws IOException {
        try (JarInputStream entries = new JarInputStream(jar)) {
            for (JarEntry entry = entries.getNextJarEntry(); entry != null; entry = entries.getNextJarEntry()) {
                ByteArrayOutputStream content = new ByteArrayOutputStream();
                byte[] buffer = new byte[4096];
                for (int length = entries.read(buffer); length > 0; length = entries.read(buffer)) {
                    content.write(buffer, 0, length);
                }
                classes.put(entry.getName(), content.toByteArray());
            }
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] bytes = classes.get(name.replace('.', '/') + ".class");
        if (bytes == null) {
            throw new ClassNotFoundException(name);
        }
        return defineClass(name, bytes, 0, bytes.length, Launcher.class.getProtectionDomain());
    }

    public static void main(String[] arguments) throws Exception {
        Launcher launcher = new Launcher(Launcher.class.getResourceAsStream("/BOOT-INF/lib/app.jar"));
        Class<?> program = launcher.loadClass("Versions");
        program.getMethod("main", String[].class).invoke(null, (Object) arguments);
    }
}
