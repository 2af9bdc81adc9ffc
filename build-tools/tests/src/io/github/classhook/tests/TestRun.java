package io.github.classhook.tests;

/**
 * Tells Classhook's agent which tests are under way, so that it records what each of them executes.
 *
 * <p>In a JVM without the agent nothing happens. Several tests may be under way at once: what is executed then counts for
 * each of them. While a test with a parent is under way, nothing counts for the parent.
 */
public final class TestRun {
    private static volatile boolean isMeasured = true;

    private TestRun() {}

    /** A test begins. */
    public static void begin(String name) {
        begin(name, null, name);
    }

    /**
     * A test begins.
     *
     * @param id what it is ended by; no two that are under way may have the same
     * @param parent the id of what it is a part of, such as a class of tests, or null
     * @param name what it is called: class, {@code #} and method, where a method is the test
     */
    public static void begin(String id, String parent, String name) {
        if (isMeasured) {
            try {
                begin0(id, parent, name);
            } catch (UnsatisfiedLinkError noAgent) {
                isMeasured = false;
            }
        }
    }

    /** The test with this id, or of this name if it was given none, ends. */
    public static void end(String id) {
        if (isMeasured) {
            try {
                end0(id);
            } catch (UnsatisfiedLinkError noAgent) {
                isMeasured = false;
            }
        }
    }

    // The JVM finds these in the agent's library.

    private static native void begin0(String id, String parent, String name);

    private static native void end0(String id);
}
