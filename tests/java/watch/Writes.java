import java.util.ArrayList;
import java.util.List;

/** Writes of fields, by the declaring class, by subclasses, nested classes, lambdas and other classes. */
public class Writes {
    static class Base {
        protected String status = "NEW"; // by the class itself
        static long count;
        double price;
    }

    static class Order extends Base {
        List<String> lines = new ArrayList<>();

        void close() {
            status = "CLOSED"; // by a subclass, by its own name
            count++; // a static field by the name of a subclass
        }

        class Inner {
            void reopen() {
                status = "OPEN"; // by a nested class
            }
        }
    }

    static class Other {
        String status;

        void set() {
            status = "other"; // another field of this name
        }
    }

    static class Hiding extends Base {
        String status;

        void set() {
            status = "hidden"; // a field that hides it
            super.status = "super"; // by the name of the superclass
        }
    }

    /** Names no watched field. */
    static final class Counter {
        int total;

        void add() {
            total++;
        }
    }

    static String message(Order order) {
        try {
            order.status = "nobody"; // to null
            return "written";
        } catch (NullPointerException thrown) {
            return "NullPointerException " + thrown.getMessage();
        }
    }

    static double once() {
        Order order = new Order();
        order.close();
        order.new Inner().reopen();
        Base base = order;
        base.status = "BASE"; // by a stranger
        order.status = "ORDER"; // by a stranger, by the name of the subclass
        new Other().set();
        new Counter().add();
        new Hiding().set();
        Runnable lambda = () -> order.status = null; // by a lambda
        lambda.run();
        order.price = 2.5; // a number
        Base.count += 10; // a static number
        return order.price + Base.count;
    }

    /** Three rounds; with the argument {@code until} more, until a line is read. */
    public static void main(String[] arguments) throws Exception {
        System.out.println("ready");
        System.out.flush();
        boolean isEndless = arguments.length > 0;
        double sum = 0;
        for (int round = 0; isEndless ? System.in.available() == 0 : round < 3; round++) {
            sum += once();
            Thread.sleep(isEndless ? 1 : 0);
        }
        // One piece, as the command writes to the same pipe.
        System.out.print((isEndless ? "end" : "sum " + sum + " " + message(null)) + "\n");
    }
}
