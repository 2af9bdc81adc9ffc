/** A class that cannot get a field. */
public class Refused {
    public static String answer() {
        return RefusedUser.use() + RefusedOther.use();
    }
}

class RefusedUser {
    static String use() {
        return "old user ";
    }
}

class RefusedOther {
    static String use() {
        return "other old";
    }
}
