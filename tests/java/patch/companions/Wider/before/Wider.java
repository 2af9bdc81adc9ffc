/** A class whose members get more access. */
public class Wider {
    private int hidden = 5;
    private static String name = "name";

    private String method(String by) {
        return "method " + by + hidden;
    }

    private static int fixed() {
        return 8;
    }

    String self() {
        return method("self") + fixed();
    }

    public static String answer() {
        return new Wider().self() + WiderUser.use(new Wider());
    }
}

class WiderUser {
    static String use(Wider wider) {
        return " old " + wider.self();
    }
}
