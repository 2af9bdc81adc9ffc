package rates;

/** A class of another jar or module that {@code Account} uses. */
public class Rate {
    public static int percent() {
        return 19;
    }
}
