import java.util.ArrayList;
import java.util.List;

/** Calls whose arguments, fields, results and exceptions follow from their number. */
public final class Shop {
    static class Line {
        final String text;
        final int count;

        Line(String text, int count) {
            this.text = text;
            this.count = count;
        }
    }

    /** None of its methods may be called. */
    static class Order {
        final int id;
        final Line[] lines;
        final Order next;
        final double price;
        final Integer boxed;
        final boolean open;
        final char mark;
        final long[] numbers;
        String note;

        Order(int id, Order next) {
            this.id = id;
            this.next = next;
            this.lines = new Line[] {new Line("first " + id, id), new Line("second", id + 1), null};
            this.price = id + 0.5;
            this.boxed = id * 2;
            this.open = id % 2 == 0;
            this.mark = (char) ('a' + id % 26);
            this.numbers = new long[] {id, -id};
        }

        @Override
        public String toString() {
            throw new AssertionError("toString was called");
        }

        @Override
        public int hashCode() {
            throw new AssertionError("hashCode was called");
        }

        @Override
        public boolean equals(Object other) {
            throw new AssertionError("equals was called");
        }
    }

    static class Base {
        protected int size;
        private final String hidden = "of the base";
    }

    static final class Store extends Base {
        static final int LIMIT = 7;
        private final String hidden = "its own";
        private String name = "store \u001b[31m\n";
        Order last;

        Order find(String key, int index, Order order) throws InterruptedException {
            last = order;
            size++;
            key = "overwritten";
            if (index % 10 == 3) {
                throw new IllegalStateException("index " + index);
            }
            if (index % 10 == 4) {
                return null;
            }
            if (index % 50 == 7) {
                Thread.sleep(60);
            }
            return order;
        }

        int down(int depth) {
            return depth == 0 ? 0 : 1 + down(depth - 1);
        }

        static long sum(long one, double other, byte small, boolean flag, char letter, int[] all) {
            return one + small;
        }
    }

    static void calls(Store store, int count) throws InterruptedException {
        for (int index = 0; index < count; index++) {
            Order order = index % 10 == 9 ? null : new Order(index, new Order(index + 1000, null));
            try {
                store.find("key-" + index % 10, index, order);
            } catch (IllegalStateException expected) {
                // the trace has it
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[1]);
        Store store = new Store();
        switch (arguments[0]) {
            case "calls":
                calls(store, count);
                break;
            case "down":
                store.down(count);
                break;
            case "sum":
                for (int index = 0; index < count; index++) {
                    Store.sum(index, index / 2.0, (byte) -index, index % 2 == 0, 'x', new int[index]);
                }
                break;
            case "threads":
                threads(count);
                break;
            case "until":
                // Prints the number of its calls when its input ends.
                System.out.println("ready");
                long made = 0;
                while (System.in.available() == 0) {
                    calls(store, 10);
                    made += 10;
                    Thread.sleep(5);
                }
                System.out.println(made);
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
        System.out.println("size " + store.size);
    }

    /** As many virtual threads, if the release has them, each with ten calls on a store of its own. */
    private static void threads(int count) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            Runnable body = () -> {
                try {
                    calls(new Store(), 10);
                } catch (InterruptedException interrupted) {
                    throw new IllegalStateException(interrupted);
                }
            };
            Thread thread;
            try {
                Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
                Class<?> type = Class.forName("java.lang.Thread$Builder");
                thread = (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, body);
            } catch (NoSuchMethodException none) {
                thread = new Thread(body);
            }
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
