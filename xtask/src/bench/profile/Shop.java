import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/**
 * A web server (Jetty) whose requests query a database (H2), with its clients in the same JVM. Each line of standard
 * input is a number of requests. For each line it answers them, and prints the CPU time of the whole process, in
 * nanoseconds.
 */
public class Shop {
    static final int ITEMS = 2_000;
    static final int CLIENTS = 4;

    static class Items extends Handler.Abstract {
        final ThreadLocal<PreparedStatement> query = ThreadLocal.withInitial(Items::prepare);

        static PreparedStatement prepare() {
            try {
                Connection connection = DriverManager.getConnection("jdbc:h2:mem:shop");
                return connection.prepareStatement(
                        "select id, name, price from item where kind = ? and price > ? order by price desc, id limit 25");
            } catch (java.sql.SQLException failed) {
                throw new IllegalStateException(failed);
            }
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            String[] path = request.getHttpURI().getPath().split("/");
            PreparedStatement query = this.query.get();
            query.setInt(1, Integer.parseInt(path[1]));
            query.setInt(2, Integer.parseInt(path[2]));
            StringBuilder json = new StringBuilder("[");
            try (ResultSet rows = query.executeQuery()) {
                while (rows.next()) {
                    json.append(json.length() == 1 ? "" : ",").append("{\"id\":").append(rows.getInt(1))
                            .append(",\"name\":\"").append(rows.getString(2)).append("\",\"price\":")
                            .append(rows.getInt(3)).append('}');
                }
            }
            response.getHeaders().put("Content-Type", "application/json");
            Content.Sink.write(response, true, json.append(']').toString(), callback);
            return true;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Connection keeps = DriverManager.getConnection("jdbc:h2:mem:shop");
        keeps.createStatement().execute("create table item(id int primary key, name varchar(20), price int, kind int)");
        keeps.createStatement().execute("create index kinds on item(kind)");
        for (int i = 0; i < ITEMS; i++) {
            keeps.createStatement().execute(
                    "insert into item values(" + i + ", 'item " + i + "', " + i * 7 % 100 + ", " + i % 20 + ")");
        }
        var server = new org.eclipse.jetty.server.Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(new Items());
        server.start();
        String base = "http://127.0.0.1:" + connector.getLocalPort() + "/";
        HttpClient[] clients = new HttpClient[CLIENTS];
        for (int i = 0; i < CLIENTS; i++) {
            clients[i] = HttpClient.newHttpClient();
        }
        var process = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        System.out.println("serving");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            long begun = process.getProcessCpuTime();
            ask(clients, base, Integer.parseInt(line));
            System.out.println(process.getProcessCpuTime() - begun);
        }
        System.exit(0);
    }

    static void ask(HttpClient[] clients, String base, int requests) throws Exception {
        AtomicInteger left = new AtomicInteger(requests);
        CountDownLatch over = new CountDownLatch(clients.length);
        for (HttpClient client : clients) {
            new Thread(() -> {
                try {
                    while (left.getAndDecrement() > 0) {
                        ThreadLocalRandom random = ThreadLocalRandom.current();
                        URI uri = URI.create(base + random.nextInt(20) + "/" + random.nextInt(50));
                        HttpResponse<String> answer = client.send(
                                HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
                        if (answer.statusCode() != 200 || !answer.body().startsWith("[{\"id\":")) {
                            throw new IllegalStateException(answer.statusCode() + " " + answer.body());
                        }
                    }
                } catch (Exception failed) {
                    failed.printStackTrace();
                    Runtime.getRuntime().halt(1);
                }
                over.countDown();
            }).start();
        }
        over.await();
    }
}
