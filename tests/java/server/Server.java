import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/**
 * A Jetty server with clients that send requests without pause. Prints {@code serving}, then {@code failed …} for the first
 * request without one of the known greetings as answer, and each new greeting; {@code served N} for
 * each thousand requests.
 */
public class Server {
    static class Greeter extends Handler.Abstract {
        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            response.getHeaders().put("X-Path", request.getHttpURI().getPath());
            Content.Sink.write(response, true, greeting(request.getHttpURI().getPath()), callback);
            return true;
        }

        static String greeting(String path) {
            return "original " + path.length();
        }
    }

    public static void main(String[] arguments) throws Exception {
        var server = new org.eclipse.jetty.server.Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(new Greeter());
        server.start();
        URI uri = URI.create("http://127.0.0.1:" + connector.getLocalPort() + "/a/path");
        AtomicLong served = new AtomicLong();
        Set<String> greetings = java.util.concurrent.ConcurrentHashMap.newKeySet();
        for (int number = 0; number < 3; number++) {
            Thread thread = new Thread(() -> ask(uri, served, greetings));
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("serving");
        server.join();
    }

    static void ask(URI uri, AtomicLong served, Set<String> greetings) {
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request = HttpRequest.newBuilder(uri).build();
        while (true) {
            try {
                HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
                String body = answer.body();
                if (answer.statusCode() != 200 || !body.endsWith(" 7")) {
                    System.out.println("failed " + answer.statusCode() + " " + body);
                }
                if (greetings.add(body)) {
                    System.out.println("greeting " + body);
                }
            } catch (Exception failure) {
                System.out.println("failed " + failure);
            }
            if (served.incrementAndGet() % 1_000 == 0) {
                System.out.println("served " + served);
            }
        }
    }
}
