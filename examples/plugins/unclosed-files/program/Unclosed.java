import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes a file, reads it twice, and forgets to close one of three streams. */
public class Unclosed {
    static FileInputStream forgotten;

    public static void main(String[] arguments) throws IOException {
        Path file = Files.createTempFile("unclosed", ".txt");
        try (FileOutputStream out = new FileOutputStream(file.toFile())) {
            out.write('x');
        }
        try (FileInputStream in = new FileInputStream(file.toFile())) {
            System.out.println("read " + (char) in.read());
        }
        forgotten = new FileInputStream(file.toFile());
        System.out.println("read " + (char) forgotten.read());
        Files.delete(file);
    }
}
