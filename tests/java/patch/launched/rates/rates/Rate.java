package rates;

/** What {@code Account} needs of another jar or module. */
public class Rate {
    public static int percent() {
        return 19;
    }
}
