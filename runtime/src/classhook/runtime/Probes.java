package classhook.runtime;

import java.lang.invoke.MethodHandles;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The probe arrays of statically instrumented classes.
 *
 * <p>A class registers with one text, {@code fingerprint/plugins/count/plugin/…/name}:
 * the CRC-64 of its original class file in hexadecimal digits, the number of plugins,
 * for each plugin the number of its probes and its name, and the internal name of the
 * class. {@link SnapshotWriter} writes all hits to a snapshot file.
 */
public final class Probes {
    private static final ConcurrentMap<String, byte[]> ARRAYS = new ConcurrentHashMap<>();

    private Probes() {}

    /** The bootstrap method of the dynamic constant in classes from version 55 on. */
    public static byte[] array(MethodHandles.Lookup caller, String name, Class<?> type, String key) {
        return array(key);
    }

    /**
     * Returns the array of a class, the same for all class loaders that define the class from the
     * same bytes. Never fails: without a snapshot file, hits go to an array that is never read.
     */
    public static byte[] array(String key) {
        byte[] array = ARRAYS.get(key);
        return array != null ? array : newArray(key);
    }

    private static byte[] newArray(String key) {
        byte[] fresh = new byte[length(key)];
        byte[] known = ARRAYS.putIfAbsent(key, fresh);
        if (known != null) {
            return known;
        }
        SnapshotWriter.add(key, fresh);
        return fresh;
    }

    private static int length(String key) {
        int sum = 0;
        for (int count : new Key(key).counts) {
            sum += count;
        }
        return sum;
    }

    /** Writes the hits so far; returns when the file contains them. */
    public static void write() {
        SnapshotWriter.write();
    }

    /** Clears all hits. */
    public static void reset() {
        SnapshotWriter.reset();
    }
}
