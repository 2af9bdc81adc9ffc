import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.util.regex.Pattern;

/**
 * Defines and links each class of a file in a loader of its own, and prints the JVM's reason for each one that it
 * refuses. Arguments: the folder of the classes that they refer to, and the file, which has a length before each class.
 *
 * Refusals that only other classes show are left out: a missing class, a supertype of the wrong kind, a class file of a
 * newer JVM, and a class that is no subclass of another one.
 */
public final class Judge extends ClassLoader {
    private static final String CLASS = "'(\\[*L[^']*;|[^'\\[]+)'";
    private static final Pattern SUBCLASS = Pattern.compile(
            "Type " + CLASS + " \\([^\\n]*\\) is not assignable to " + CLASS
                    + "|current class isn't assignable to reference class");

    private final File folder;

    private Judge(File folder) {
        super(ClassLoader.getSystemClassLoader().getParent());
        this.folder = folder;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        File file = new File(folder, name.replace('.', '/') + ".class");
        try {
            return define(Files.readAllBytes(file.toPath()));
        } catch (IOException missing) {
            throw new ClassNotFoundException(name, missing);
        }
    }

    private Class<?> define(byte[] bytes) {
        return defineClass(null, bytes, 0, bytes.length);
    }

    public static void main(String[] arguments) throws IOException {
        File folder = new File(arguments[0]);
        int judged = 0;
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(arguments[1])))) {
            for (; in.available() > 0; judged++) {
                byte[] bytes = new byte[in.readInt()];
                in.readFully(bytes);
                String reason = judge(folder, bytes);
                if (reason != null) {
                    System.out.println("refused " + judged + " " + reason.replaceAll("\\s+", " "));
                }
            }
        }
        System.out.println("judged " + judged);
    }

    private static String judge(File folder, byte[] bytes) {
        try {
            // Reflection links the class, and does not initialize it.
            new Judge(folder).define(bytes).getDeclaredMethods();
            return null;
        } catch (UnsupportedClassVersionError | NoClassDefFoundError | ClassCircularityError | SecurityException other) {
            return null;
        } catch (ClassFormatError | VerifyError fault) {
            return SUBCLASS.matcher(String.valueOf(fault.getMessage())).find() ? null : fault.toString();
        } catch (IncompatibleClassChangeError other) {
            return null;
        }
    }
}
