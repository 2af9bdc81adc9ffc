import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** A class that gets private, static and instance members of every kind. */
public class Members extends MembersBase {
    private static final int LIMIT = 40;
    private static final Map<String, Integer> SIZES = new HashMap<>();
    static final String[] LIST = {"a", "b" + LIMIT};
    private static long total;
    private static final String CHOSEN = LIMIT > System.nanoTime() % 2 ? "chosen" : "other";

    static {
        SIZES.put("one", 1);
        for (String item : new String[] {"two", "three"}) {
            SIZES.put(item, item.length());
        }
    }

    private int count = 3;
    private static String word = "word";
    private final List<String> names = new ArrayList<>();

    private String secret(String of) {
        return "secret " + of;
    }

    @Override
    protected String hello() {
        return "overridden";
    }

    private static int twice(int number) {
        return number * 2;
    }

    private String described(long wide, double broad, String name) {
        count += 2;
        total += wide;
        word = word + "!";
        names.add(name);
        return secret(name) + " " + super.hello() + " " + hello() + " " + base + " " + count + " " + broad + " " + total
                + " " + word + " " + names;
    }

    String chosen(String by) {
        switch (by) {
            case "Aa":
                return "first";
            case "BB":
                return "second";
            default:
                return helper(by, by.length());
        }
    }

    private String helper(String by, int depth) {
        if (depth <= 0) {
            return by + count;
        }
        try {
            return helper(by + depth, depth - 1);
        } catch (IllegalStateException never) {
            return "never";
        } finally {
            count++;
        }
    }

    static List<String> all(Function<String, String> function) {
        List<String> found = new ArrayList<>();
        for (String item : LIST) {
            found.add(function.apply(item));
        }
        return found;
    }

    String text() {
        int captured = twice(count);
        Supplier<String> lambda = () -> "lambda " + captured + " " + count + secret("in lambda");
        Function<String, String> reference = this::secret;
        Function<String, String> other = Members::quoted;
        return "new " + twice(21) + described(5L, 2.5, "name") + chosen("Aa") + chosen("BB") + chosen("CC") + lambda.get()
                + all(reference) + all(other) + LIMIT + SIZES.get("one") + SIZES.get("two") + SIZES.get("three") + total
                + CHOSEN;
    }

    private static String quoted(String text) {
        return '"' + text + '"';
    }

    public static String answer() {
        total = 0;
        word = "word";
        return new Members().text() + MembersUser.use(new Members());
    }
}

class MembersBase {
    protected int base = 7;

    protected String hello() {
        return "base";
    }
}

class MembersUser {
    static String use(Members members) {
        Function<String, String> chosen = members::chosen;
        return " used " + members.text() + members.chosen("BB") + Members.LIST.length + chosen.apply("DD") + Members.all(it -> it + it);
    }
}
