import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;

/** Fetches a page three times, from its own server. */
public class Fetch {
    public static void main(String[] arguments) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 5);
            exchange.getResponseBody().write("hello".getBytes());
            exchange.close();
        });
        server.start();
        URL page = new URL("http:/" + server.getAddress() + "/");
        int read = 0;
        for (int time = 0; time < 3; time++) {
            read += fetch(page);
        }
        System.out.println("read " + read + " bytes");
        server.stop(0);
    }

    static int fetch(URL page) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) page.openConnection();
        if (connection.getResponseCode() != 200) {
            return 0;
        }
        try (InputStream body = connection.getInputStream()) {
            return body.readAllBytes().length;
        }
    }
}
