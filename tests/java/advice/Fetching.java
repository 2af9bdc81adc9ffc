import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Sends a request to a server that closes the first two connections without an answer. */
public class Fetching {
    public static void main(String[] arguments) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 9, java.net.InetAddress.getLoopbackAddress())) {
            Thread serving = new Thread(() -> serve(server));
            serving.setDaemon(true);
            serving.start();
            try {
                System.out.println(fetch(URI.create("http://127.0.0.1:" + server.getLocalPort() + "/")));
            } catch (java.io.IOException failed) {
                System.out.println("failed");
            }
        }
    }

    static String fetch(URI from) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(from).POST(HttpRequest.BodyPublishers.ofString("x")).build();
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    private static void serve(ServerSocket server) {
        for (int number = 1; ; number++) {
            try (Socket socket = server.accept()) {
                byte[] read = new byte[4_096];
                int count = 0;
                while (count < 1 || read[count - 1] != 'x') count += socket.getInputStream().read(read, count, read.length - count);
                if (number > 2) {
                    socket.getOutputStream().write(("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + number).getBytes());
                    socket.getOutputStream().flush();
                }
            } catch (java.io.IOException | IndexOutOfBoundsException closed) {
                return;
            }
        }
    }
}
