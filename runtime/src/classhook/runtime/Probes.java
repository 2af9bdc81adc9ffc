package classhook.runtime;

import java.lang.invoke.MethodHandles;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The probe arrays of classes that were instrumented before they run.
 *
 * <p>A class registers by one text, {@code fingerprint/plugins/count/plugin/…/name}: the CRC-64 of its
 * original class file in hexadecimal digits, how many plugins have probes in it, for each of them the number of
 * its probes and its name, and its own internal name. Everything that was hit is written to a snapshot file by
 * {@link SnapshotWriter}.
 */
public final class Probes {
    private static final ConcurrentMap<String, byte[]> ARRAYS = new ConcurrentHashMap<>();

    private Probes() {}

    /** The bootstrap method of the dynamic constant in classes from version 55 on. */
    public static byte[] array(MethodHandles.Lookup caller, String name, Class<?> type, String key) {
        return array(key);
    }

    /**
     * The array of a class: one and the same for all class loaders that define the class from the same bytes.
     * Never fails: without a snapshot file, hits go to an array that is never read.
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

    /** Writes what was hit so far; returns when it is in the file. */
    public static void write() {
        SnapshotWriter.write();
    }

    /** Forgets all hits so far. */
    public static void reset() {
        SnapshotWriter.reset();
    }
}
