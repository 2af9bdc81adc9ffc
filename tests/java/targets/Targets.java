// Runs the targets that are named.
package targets;

/** Calls the {@code main} of each class that is named. */
class Targets {
    public static void main(String[] names) throws Exception {
        for (String name : names) {
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        }
    }
}
