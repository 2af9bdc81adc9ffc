import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/** Lines with local variables of each kind, some of which begin where the operand stack is not empty. */
public class Lines {
    static class Item {
        final double price;

        Item(double price) {
            this.price = price;
        }
    }

    static class Order {
        final String id;
        final List<Item> items = new ArrayList<>();

        Order(String id) {
            this.id = id; // the object of a constructor
            items.add(new Item(1.5));
            items.add(new Item(2.5));
        }
    }

    final String name;

    Lines(String name) {
        this.name = name;
    }

    double total(Order order, int[] weights, long factor) {
        double total = 0;
        for (int index = 0; index < order.items.size(); index++) { // twice on one line
            Item item = order.items.get(index);
            total += item.price * weights[index]; // within the loop
        }
        byte small = 7;
        char letter = 'x';
        boolean isLarge = total > 3;
        float half = 0.5f;
        Object nothing = null;
        total *= factor; // all of them
        return total;
    }

    static int onTheStack(boolean isHigh) {
        int base = 3;
        return Math.max(base, isHigh
                ? base + 10 // above another operand
                : base - 10);
    }

    static Item notInitialized(boolean isHigh) {
        double least = 3;
        return new Item(isHigh
                ? least + 10 // below an object that is not initialized
                : least - 10);
    }

    static int lambda(int outer) {
        IntSupplier supplier = () -> outer + 1; // a lambda, and the method that makes it
        return supplier.getAsInt();
    }

    static int afterwards(int number) {
        try {
            return 10 / number;
        } catch (ArithmeticException thrown) {
            return -1; // in a handler
        } finally {
            number++; // copied by the compiler
        }
    }

    static class Nested {
        static String twice(String text) {
            String both = text + text;
            return both; // in a nested class
        }
    }

    static double once(int round) {
        double sum = new Lines("n" + round).total(new Order("o" + round), new int[] {1, 2}, 2);
        sum += onTheStack(true) + onTheStack(false);
        sum += notInitialized(true).price + notInitialized(false).price;
        sum += lambda(round) + afterwards(5) + afterwards(0);
        return sum + Nested.twice("t").length() + Beside.of(round);
    }

    /** Three rounds; with the argument {@code until} more, until a line is read. */
    public static void main(String[] arguments) throws Exception {
        double sum = 0;
        int round = 0;
        System.out.println("ready");
        System.out.flush();
        boolean isEndless = arguments.length > 0;
        while (isEndless ? System.in.available() == 0 : round < 3) {
            sum += once(round++);
            Thread.sleep(isEndless ? 1 : 0);
        }
        // One piece, as the command writes to the same pipe.
        System.out.print((isEndless ? "end" : "sum " + sum) + "\n");
    }
}

/** Another class of the file. */
class Beside {
    static int of(int round) {
        int next = round + 1;
        return next; // in another class of the file
    }
}
