import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.Vector;
import java.util.WeakHashMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;

/** Values with their content, each beside the content that Java itself yields. */
public final class Opened {
    enum Status {
        NEW,
        PAID {
            @Override
            public String toString() {
                throw new AssertionError("toString was called");
            }
        }
    }

    /** Keys in the same bin of each hash table. */
    static final class Key implements Comparable<Key> {
        final int id;

        Key(int id) {
            this.id = id;
        }

        @Override
        public int hashCode() {
            return 7;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Key && ((Key) other).id == id;
        }

        @Override
        public int compareTo(Key other) {
            return Integer.compare(id, other.id);
        }
    }

    static class Base {
        final String origin = "base";
        static final int IGNORED = 5;
    }

    static final class Order extends Base {
        final int id;
        final Status status = Status.PAID;
        final Class<?> kind = Order.class;
        Object next;

        Order(int id, Object next) {
            this.id = id;
            this.next = next;
        }
    }

    /** An inner class: its reference to the enclosing object is no field of the program. */
    final class Inner {
        final double price = 1.5;
    }

    /** A collection of the program's own that extends one of the JDK. */
    static final class Basket extends ArrayList<Object> {
        private static final long serialVersionUID = 1;
        final String owner = "me";
    }

    /** Called with a name, a value, and its expected text. */
    static void show(String name, Object value, String expected) {
        sum += name.length() + (expected == null ? 0 : expected.length());
    }

    static int sum;

    static void show(String name, Object value) {
        show(name, value, read(value));
    }

    /** The expected text of a value, as Java's own iteration yields it. */
    static String read(Object value) {
        if (value instanceof String) {
            return '"' + (String) value + '"';
        }
        if (value instanceof Character) {
            return "'" + value + "'";
        }
        if (value instanceof Key) {
            return "Key{id=" + ((Key) value).id + "}";
        }
        if (value instanceof Enum) {
            return ((Enum<?>) value).name();
        }
        if (value instanceof Map.Entry) {
            return '{' + entry((Map.Entry<?, ?>) value) + '}';
        }
        if (value instanceof Map) {
            List<String> parts = new ArrayList<>();
            for (Map.Entry<?, ?> each : ((Map<?, ?>) value).entrySet()) {
                parts.add(entry(each));
            }
            return '{' + String.join(", ", parts) + '}';
        }
        if (value instanceof Collection) {
            List<String> parts = new ArrayList<>();
            for (Object each : (Collection<?>) value) {
                parts.add(read(each));
            }
            return '[' + String.join(", ", parts) + ']';
        }
        return String.valueOf(value);
    }

    private static String entry(Map.Entry<?, ?> entry) {
        return read(entry.getKey()) + '=' + read(entry.getValue());
    }

    /** {@code List.of}, {@code Set.of}, {@code Map.of}, which release 8 does not have. */
    static Object of(Class<?> type, Object... values) throws Exception {
        Class<?>[] kinds = new Class<?>[values.length];
        Arrays.fill(kinds, Object.class);
        return type.getMethod("of", kinds).invoke(null, values);
    }

    static void lists() {
        List<Object> list = new ArrayList<>(Arrays.asList("a", null, 'c', 4L));
        show("ArrayList", list);
        show("empty ArrayList", new ArrayList<>());
        show("Arrays.asList", Arrays.asList(1, 2));
        show("subList", list.subList(1, 3));
        show("subList of subList", list.subList(1, 4).subList(1, 3));
        show("subList of Arrays.asList", Arrays.asList(1, 2, 3, 4).subList(1, 3));
        show("LinkedList", new LinkedList<>(list));
        show("Vector", new Vector<>(list));
        show("CopyOnWriteArrayList", new CopyOnWriteArrayList<>(list));
        show("unmodifiableList", Collections.unmodifiableList(list));
        show("unmodifiableCollection", Collections.unmodifiableCollection(list));
        show("synchronizedList", Collections.synchronizedList(list));
        show("checkedList", Collections.checkedList(list, Object.class));
        show("wrapped twice", Collections.unmodifiableList(Collections.synchronizedList(list)));
        show("singletonList", Collections.singletonList(1));
        show("nCopies", Collections.nCopies(3, "x"));
        show("emptyList", Collections.emptyList());
        Basket basket = new Basket();
        basket.add(1);
        show("extends ArrayList", basket);
        show("list of lists", Arrays.asList(Arrays.asList(1, 2), new ArrayList<>()));
    }

    static void queues() {
        ArrayDeque<Object> deque = new ArrayDeque<>(8);
        for (int index = 0; index < 30; index++) {
            deque.addLast(index);
            if (deque.size() > 5) {
                deque.removeFirst();
            }
        }
        deque.addFirst("first");
        show("ArrayDeque", deque);
        show("empty ArrayDeque", new ArrayDeque<>());
        List<Integer> some = Arrays.asList(3, 1, 2);
        show("PriorityQueue", new PriorityQueue<>(some));
        show("PriorityBlockingQueue", new PriorityBlockingQueue<>(some));
        ArrayBlockingQueue<Object> ring = new ArrayBlockingQueue<>(3);
        ring.addAll(some);
        ring.remove();
        ring.add(7);
        show("ArrayBlockingQueue", ring);
        show("LinkedBlockingQueue", new LinkedBlockingQueue<>(some));
        show("LinkedBlockingDeque", new LinkedBlockingDeque<>(some));
        ConcurrentLinkedQueue<Object> queue = new ConcurrentLinkedQueue<>(some);
        queue.remove();
        show("ConcurrentLinkedQueue", queue);
        show("ConcurrentLinkedDeque", new ConcurrentLinkedDeque<>(some));
    }

    static void fill(Map<Object, Object> map) {
        for (int index = 0; index < 9; index++) {
            map.put("key-" + index, index);
        }
        map.remove("key-4");
    }

    static void maps() {
        List<Map<Object, Object>> maps = Arrays.asList(
                new HashMap<>(), new LinkedHashMap<>(), new TreeMap<>(), new ConcurrentHashMap<>(),
                new ConcurrentSkipListMap<>(), new Hashtable<>(), new WeakHashMap<>(), new Properties());
        for (Map<Object, Object> map : maps) {
            String name = map.getClass().getSimpleName();
            show("empty " + name, map);
            fill(map);
            show(name, map);
            show("keys of " + name, map.keySet());
            show("values of " + name, map.values());
            show("unmodifiable " + name, Collections.unmodifiableMap(map));
            show("synchronized " + name, Collections.synchronizedMap(map));
        }
        HashMap<Object, Object> nulls = new HashMap<>();
        nulls.put(null, null);
        show("null in HashMap", nulls);
        WeakHashMap<Object, Object> weak = new WeakHashMap<>();
        weak.put(null, 1);
        show("null in WeakHashMap", weak);
        Map<Object, Object> bins = new HashMap<>();
        Map<Object, Object> concurrent = new ConcurrentHashMap<>();
        for (int index = 0; index < 100; index++) {
            bins.put(new Key(index), index);
            concurrent.put(new Key(index), index);
        }
        for (int index = 5; index < 95; index++) {
            bins.remove(new Key(index));
            concurrent.remove(new Key(index));
        }
        show("HashMap in one bin", bins);
        show("ConcurrentHashMap in one bin", concurrent);
        Map<Object, Object> identities = new IdentityHashMap<>();
        identities.put(Status.NEW, 1);
        identities.put(null, 2);
        show("IdentityHashMap", identities);
        show("keys of IdentityHashMap", identities.keySet());
        show("values of EnumMap", new EnumMap<>(Collections.singletonMap(Status.NEW, 1)).values());
        show("singletonMap", Collections.singletonMap("k", "v"));
        show("emptyMap", Collections.emptyMap());
        show("entry", new AbstractMap.SimpleEntry<>("k", 1));
        show("entries of HashMap", new ArrayList<>(nulls.entrySet()));
        Map<Status, Object> enums = new EnumMap<>(Status.class);
        enums.put(Status.PAID, null);
        enums.put(Status.NEW, 1);
        show("EnumMap", enums);
    }

    static void sets() {
        List<String> some = Arrays.asList("x", "yy", "zzz");
        show("HashSet", new HashSet<>(some));
        show("LinkedHashSet", new LinkedHashSet<>(some));
        show("TreeSet", new TreeSet<>(some));
        show("ConcurrentSkipListSet", new ConcurrentSkipListSet<>(some));
        show("CopyOnWriteArraySet", new CopyOnWriteArraySet<>(some));
        Set<Object> concurrent = ConcurrentHashMap.newKeySet();
        concurrent.addAll(some);
        show("newKeySet", concurrent);
        show("newSetFromMap", Collections.newSetFromMap(new ConcurrentHashMap<>()));
        show("unmodifiableSet", Collections.unmodifiableSet(new TreeSet<>(some)));
        show("synchronizedSortedSet", Collections.synchronizedSortedSet(new TreeSet<>(some)));
        show("singleton", Collections.singleton(1));
        show("emptySet", Collections.emptySet());
        show("EnumSet", EnumSet.allOf(Status.class));
        show("noneOf", EnumSet.noneOf(Status.class));
        show("large EnumSet", EnumSet.of(Character.UnicodeScript.LATIN, Character.UnicodeScript.YI));
    }

    static void immutable() throws Exception {
        if (System.getProperty("java.version").startsWith("1.8")) {
            return;
        }
        show("List.of", of(List.class));
        show("List.of one", of(List.class, 1));
        show("List.of two", of(List.class, 1, "b"));
        show("List.of three", of(List.class, 1, 2, 3));
        show("subList of List.of", ((List<?>) of(List.class, 1, 2, 3)).subList(1, 3));
        show("Set.of", of(Set.class));
        show("Set.of one", of(Set.class, 1));
        show("unordered Set.of two", of(Set.class, 1, 2));
        show("unordered Set.of three", of(Set.class, 1, 2, 3));
        show("Map.of", of(Map.class));
        show("Map.of one", of(Map.class, "k", 1));
        show("unordered Map.of two", of(Map.class, "k", 1, "l", 2));
        show("Map.entry", Map.class.getMethod("entry", Object.class, Object.class).invoke(null, 1, 2));
    }

    static void others() {
        show("Optional", Optional.of("x"), "Optional[\"x\"]");
        show("Optional.empty", Optional.empty(), "Optional.empty");
        show("OptionalInt", OptionalInt.of(0), "OptionalInt[0]");
        show("OptionalLong.empty", OptionalLong.empty(), "OptionalLong.empty");
        show("array", new int[] {1, -2}, "[1, -2]");
        show("array of arrays", new Object[][] {{'a'}, null}, "[['a'], null]");
        show("object", new Order(7, null), "Order{id=7, status=PAID, kind=Opened$Order, next=null, origin=\"base\"}");
        show("inner", new Opened().new Inner(), "Inner{price=1.5}");
        show("enum", Status.PAID, "PAID");
        show("class", String[].class, "[Ljava.lang.String;");
        List<Object> list = new ArrayList<>(Arrays.asList(1, null));
        list.set(1, list);
        show("cycle", list, "[1, (cycle ArrayList@" + Integer.toHexString(System.identityHashCode(list)) + ")]");
        Object deepest = new Order(3, null);
        show("depth", new Order(1, new Order(2, deepest)),
                "Order{id=1, status=PAID, kind=Opened$Order, next=Order{id=2, status=PAID, kind=Opened$Order, next=Opened$Order@"
                        + Integer.toHexString(System.identityHashCode(deepest))
                        + ", origin=\"base\"}, origin=\"base\"}");
        show("depth of lists", Arrays.asList(Arrays.asList(Arrays.asList(1, 2), new HashMap<>())), "[[[… 2 more], {}]]");
        List<Object> many = new ArrayList<>();
        for (int index = 0; index < 1_000; index++) {
            many.add(index);
        }
        show("many", many, read(many.subList(0, 20)).replace("]", ", … 980 more]"));
        show("many in a set", new HashSet<>(many), read(many.subList(0, 20)).replace("]", ", … 980 more]"));
        show("many in a queue", new ConcurrentLinkedQueue<>(many), read(many.subList(0, 20)).replace("]", ", … 980 more]"));
        show("sparse", sparse(), "{… 1 more}");
    }

    /** A map with a longer table than the agent reads. */
    static Object sparse() {
        Map<Object, Object> map = new HashMap<>(1 << 16);
        map.put((1 << 16) - 1, "last");
        return map;
    }

    static void once() throws Exception {
        lists();
        others();
        queues();
        maps();
        sets();
        immutable();
    }

    /** Values that other threads change all the time. */
    static void changing(int rounds) throws Exception {
        Map<Object, Object> map = new HashMap<>();
        Map<Object, Object> concurrent = new ConcurrentHashMap<>();
        Map<Object, Object> tree = new TreeMap<>();
        List<Object> list = new ArrayList<>();
        List<Object> linked = new LinkedList<>();
        ConcurrentLinkedQueue<Object> queue = new ConcurrentLinkedQueue<>();
        ArrayDeque<Object> deque = new ArrayDeque<>();
        Object[] all = {map, concurrent, tree, list, linked, queue, deque};
        Thread writer = new Thread(() -> {
            for (int index = 0; !Thread.currentThread().isInterrupted(); index++) {
                if (index % 5_000 == 4_999) {
                    map.clear();
                    concurrent.clear();
                    tree.clear();
                    list.clear();
                    linked.clear();
                    queue.clear();
                    deque.clear();
                }
                map.put(index, index);
                concurrent.put(index, index);
                tree.put(index, index);
                list.add(0);
                linked.add(index);
                queue.add(index);
                deque.add(index);
            }
        });
        writer.start();
        for (int round = 0; round < rounds; round++) {
            for (Object each : all) {
                show("changing", each, "");
            }
        }
        writer.interrupt();
        writer.join();
        System.out.println("shown " + rounds * all.length);
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1 && arguments[0].equals("printed")) {
            Printed.all();
        } else if (arguments.length == 1) {
            changing(Integer.parseInt(arguments[0]));
        } else {
            once();
        }
    }
}
