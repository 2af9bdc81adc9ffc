import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.spi.ToolProvider;

/**
 * Runs tools of its JDK, such as {@code javac} and {@code jar}, and the command line of JaCoCo, until its input ends. A
 * request is the number of words and each word, the tool's name or the path of JaCoCo's jar first; the answer is the
 * exit code and the tool's output. Texts are a length and UTF-8.
 */
public class Tools {
    /** The constructor of JaCoCo's command line, once it is loaded. */
    private static Constructor<?> jacoco;

    public static void main(String[] arguments) throws Exception {
        DataInputStream in = new DataInputStream(System.in);
        DataOutputStream out = new DataOutputStream(System.out);
        while (true) {
            int count;
            try {
                count = in.readInt();
            } catch (EOFException end) {
                return;
            }
            String tool = text(in);
            String[] words = new String[count - 1];
            for (int number = 0; number < words.length; number++) {
                words[number] = text(in);
            }
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            PrintStream said = new PrintStream(bytes, true, StandardCharsets.UTF_8);
            int code = tool.endsWith(".jar")
                    ? report(Path.of(tool), words, new PrintWriter(said, true))
                    : ToolProvider.findFirst(tool).orElseThrow().run(said, said, words);
            said.flush();
            out.writeInt(code);
            out.writeInt(bytes.size());
            bytes.writeTo(out);
            out.flush();
        }
    }

    /** The part of its {@code main} before the exit. */
    private static int report(Path jar, String[] words, PrintWriter said) throws Exception {
        if (jacoco == null) {
            URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()});
            jacoco = loader.loadClass("org.jacoco.cli.internal.Main").getDeclaredConstructor(String[].class);
            jacoco.setAccessible(true);
        }
        Object command = jacoco.newInstance((Object) words);
        Class<?> writer = PrintWriter.class;
        return (int) command.getClass().getMethod("execute", writer, writer).invoke(command, said, said);
    }

    private static String text(DataInputStream in) throws IOException {
        return new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
    }
}
