import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedList;
import java.util.List;
import java.util.Vector;
import java.util.concurrent.CopyOnWriteArrayList;

/** Lists of every kind in the JDK, and constants of enums. None of their methods may be called during the watch. */
public final class Basket {
    enum State {
        OPEN,
        CLOSED {
            @Override
            public String toString() {
                throw new AssertionError("toString was called");
            }
        }
    }

    static final class Item {
        final double price;
        final State state;

        Item(double price, State state) {
            this.price = price;
            this.state = state;
        }
    }

    /** A list of the program: without a call of its methods it has no elements. */
    static final class Mine extends ArrayList<Item> {
        @Override
        public Item get(int index) {
            throw new AssertionError("get was called");
        }
    }

    static final class Order {
        final State state;
        final List<Item> items;

        Order(State state, List<Item> items) {
            this.state = state;
            this.items = items;
        }
    }

    static int size(Order order) {
        return order.items.size();
    }

    public static void main(String[] arguments) {
        Item one = new Item(1.5, State.OPEN);
        Item two = new Item(2.5, State.CLOSED);
        List<Item> both = Arrays.asList(one, two);
        List<List<Item>> all = new ArrayList<>();
        all.add(both);
        all.add(new ArrayList<>(both));
        all.add(new LinkedList<>(both));
        all.add(new Vector<>(both));
        all.add(new CopyOnWriteArrayList<>(both));
        all.add(List.of(one, two));
        all.add(List.of(one, two, one));
        all.add(Collections.unmodifiableList(Collections.synchronizedList(new ArrayList<>(both))));
        all.add(Collections.singletonList(one));
        all.add(List.of(one));
        all.add(Collections.emptyList());
        Mine mine = new Mine();
        mine.addAll(both);
        all.add(mine);
        for (List<Item> items : all) {
            size(new Order(State.CLOSED, items));
        }
    }
}
