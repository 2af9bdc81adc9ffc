import java.io.IOException;
import java.net.Socket;

/** Tries to connect to two ports. */
public class Knock {
    public static void main(String[] arguments) {
        for (int port : new int[] {1, 9}) {
            try (Socket socket = new Socket("127.0.0.1", port)) {
                System.out.println("somebody at " + port);
            } catch (IOException nobody) {
                System.out.println("nobody at " + port);
            }
        }
    }
}
