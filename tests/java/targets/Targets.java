// Runs the named targets.
package targets;

/** Calls the {@code main} of each named class. */
class Targets {
    public static void main(String[] names) throws Exception {
        for (String name : names) {
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        }
    }
}
