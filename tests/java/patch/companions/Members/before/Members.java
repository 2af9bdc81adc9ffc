import java.util.ArrayList;
import java.util.List;

/** A class that gets private, static and instance members of every kind. */
public class Members extends MembersBase {
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

    String text() {
        return "old " + count + secret("x");
    }

    public static String answer() {
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
        return " used " + members.text();
    }
}
