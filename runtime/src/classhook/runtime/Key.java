package classhook.runtime;

/** The decoded text with which a class registers. */
final class Key {
    final long fingerprint;
    final String name;
    /** The plugins with probes in the class. */
    final String[] plugins;
    /** The number of probes of each plugin, which follow each other in the array. */
    final int[] counts;

    private final String text;
    private int at;

    Key(String text) {
        this.text = text;
        fingerprint = Long.parseUnsignedLong(field(), 16);
        int number = Integer.parseInt(field());
        plugins = new String[number];
        counts = new int[number];
        for (int index = 0; index < number; index++) {
            counts[index] = Integer.parseInt(field());
            plugins[index] = field();
        }
        name = text.substring(at);
    }

    private String field() {
        int end = text.indexOf('/', at);
        String field = text.substring(at, end);
        at = end + 1;
        return field;
    }
}
