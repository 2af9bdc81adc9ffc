import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/** A service that handles requests all the time, and executes the orders of its standard input until it ends. */
public class Service {
    static final List<Order> KEPT = new ArrayList<>();
    static final List<FileInputStream> OPEN = new ArrayList<>();
    static volatile int sum;

    static class Order {
        final String id;

        Order(int number) {
            id = "order-" + number;
        }

        int total(int count) {
            return 2 * count + id.length();
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int number = 0; number < 1000; number++) {
            KEPT.add(new Order(number));
        }
        Thread work = new Thread(Service::work);
        work.setDaemon(true);
        work.start();
        exhaust();
        release();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("up");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            switch (line) {
                case "exhaust": System.out.println(exhaust()); break;
                case "release": System.out.println(release()); break;
                case "names": System.out.println(names()); break;
                default: System.out.println(new Order(1).total(1));
            }
        }
        System.out.println("down");
    }

    static void work() {
        try {
            for (int number = 0; ; number++) {
                sum += KEPT.get(number % KEPT.size()).total(number);
                Thread.sleep(1);
            }
        } catch (InterruptedException never) {
            throw new AssertionError(never);
        }
    }

    /** Opens files until no file descriptor is left, or some hundred are open. */
    static String exhaust() {
        try {
            while (OPEN.size() < 500) {
                OPEN.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException full) {
            return "exhausted";
        }
        return "open";
    }

    static String release() throws IOException {
        for (FileInputStream file : OPEN) {
            file.close();
        }
        OPEN.clear();
        return "released";
    }

    /** The names of parameters, by reflection. */
    static String names() {
        StringBuilder names = new StringBuilder();
        for (java.lang.reflect.Method method : Order.class.getDeclaredMethods()) {
            for (java.lang.reflect.Parameter parameter : method.getParameters()) {
                names.append(method.getName()).append(' ').append(parameter).append("; ");
            }
        }
        return names.toString();
    }
}
