import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.spi.ToolProvider;

/**
 * Runs tools of its JDK, such as {@code javac} and {@code jar}, until its input ends. A request is the number of words
 * and each word, the tool's name first; the answer is the exit code and what the tool said. Texts are a length and
 * UTF-8.
 */
public class Tools {
    public static void main(String[] arguments) throws IOException {
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
            int code = ToolProvider.findFirst(tool).orElseThrow().run(said, said, words);
            said.flush();
            out.writeInt(code);
            out.writeInt(bytes.size());
            bytes.writeTo(out);
            out.flush();
        }
    }

    private static String text(DataInputStream in) throws IOException {
        return new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
    }
}
