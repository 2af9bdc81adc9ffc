/** The method that two plans of `tests/tests/rewriter/layers.rs` edit, and the methods that their code calls. */
public final class Layered {
    private static final StringBuilder LOG = new StringBuilder();

    public static void note(String text) {
        LOG.append(text).append(' ');
    }

    public static int given(int number) {
        note("given");
        if (number == 2) {
            throw new IllegalStateException("given");
        }
        return number;
    }

    public static int other(int number) {
        note("other");
        return number + 10;
    }

    public static int work(int number) {
        note("body");
        if (number > 5) {
            return number;
        }
        return given(number);
    }

    public static String run(int number) {
        LOG.setLength(0);
        try {
            note("= " + work(number));
        } catch (IllegalStateException e) {
            note("threw " + e.getMessage());
        }
        return LOG.toString().trim();
    }
}
