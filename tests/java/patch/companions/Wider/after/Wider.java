import java.util.function.Function;

/** A class whose members get more access. */
public class Wider {
    int hidden = 5;
    public static String name = "name";

    final String method(String by) {
        return "method " + by + hidden;
    }

    protected static int fixed() {
        return 8;
    }

    String self() {
        return method("self") + fixed();
    }

    public static String answer() {
        name = "name";
        return new Wider().self() + WiderUser.use(new Wider());
    }
}

class WiderUser {
    static String use(Wider wider) {
        Function<String, String> reference = wider::method;
        wider.hidden += 4;
        Wider.name += "+";
        return " new " + wider.method("user") + Wider.fixed() + wider.hidden + Wider.name + reference.apply("reference");
    }
}
