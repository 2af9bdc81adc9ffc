package io.github.classhook.tests;

/**
 * Reports the active tests to Classhook's agent, which records the coverage of each.
 *
 * <p>Without the agent in the JVM the calls have no effect. Several tests may be active at once: executed code then
 * counts for each of them. While a test with a parent is active, nothing counts for the parent.
 */
public final class TestRun {
    private static volatile boolean isMeasured = true;

    private TestRun() {}

    /** Reports the start of a test. */
    public static void begin(String name) {
        begin(name, null, name);
    }

    /**
     * Reports the start of a test.
     *
     * @param id the argument of {@link #end}; unique among active tests
     * @param parent the id of the enclosing item, such as a test class, or null
     * @param name the displayed name: class, {@code #} and method if the test is a method
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

    /** Reports the end of the test with this id, or with this name if it has no id. */
    public static void end(String id) {
        if (isMeasured) {
            try {
                end0(id);
            } catch (UnsatisfiedLinkError noAgent) {
                isMeasured = false;
            }
        }
    }

    // The JVM finds these functions in the agent library.

    private static native void begin0(String id, String parent, String name);

    private static native void end0(String id);
}
