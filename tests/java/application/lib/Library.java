package lib;

public class Library {
    public static int call() {
        return 1;
    }
}
