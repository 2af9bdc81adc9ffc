/** A class that cannot get a field. */
public class Refused {
    int extra;

    static String added() {
        return "added";
    }

    public static String answer() {
        return RefusedUser.use() + RefusedOther.use();
    }
}

class RefusedUser {
    static String use() {
        return "new user " + Refused.added();
    }
}

class RefusedOther {
    static String use() {
        return "other patched";
    }
}
