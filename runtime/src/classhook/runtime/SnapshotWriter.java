package classhook.runtime;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Writes the snapshot file: a thread compares the probe arrays with their last
 * known content and appends the new hits.
 *
 * <p>No thread of the application waits for it, except in {@link Probes#write}.
 */
final class SnapshotWriter implements Runnable {
    /** Number of probes in one array of a snapshot, and maximum number of its arrays. */
    private static final int ARRAY_LENGTH = 65536;
    private static final int MAX_ARRAYS = 4096;
    /** Milliseconds. Hits older than twice this time survive a kill. During the shutdown the interval is shorter. */
    private static final long INTERVAL = 50;
    private static final long INTERVAL_OF_SHUTDOWN = 2;

    /** Classes that the writing thread has not registered yet. */
    private static final Queue<Entry> NEW = new ConcurrentLinkedQueue<>();
    /** Null if no file can be written; then a warning was printed. */
    private static final SnapshotWriter THIS = start();

    private final Log log;
    private final List<Entry> classes = new ArrayList<>();
    /** Array and index of the next class's first probe. */
    private int array;
    private int base;
    private boolean full;
    private volatile boolean ended;

    private SnapshotWriter(Log log) {
        this.log = log;
    }

    /** Registers a class and its array. */
    static void add(String key, byte[] array) {
        if (THIS != null) {
            NEW.add(new Entry(key, array));
        }
    }

    static void write() {
        if (THIS != null) {
            THIS.append();
        }
    }

    static void reset() {
        if (THIS != null) {
            THIS.forget();
        }
    }

    static void complain(String code, String text) {
        System.err.println("classhook: warning[" + code + "]: " + text);
    }

    private static SnapshotWriter start() {
        try {
            String output = System.getProperty("classhook.output");
            if (output == null) {
                output = System.getenv("CLASSHOOK_OUTPUT");
            }
            if (output == null) {
                // Builds with JaCoCo's offline instrumentation set this property.
                output = System.getProperty("jacoco-agent.destfile");
            }
            long pid = pid();
            long start = System.currentTimeMillis();
            File folder = new File(output == null || output.isEmpty() ? "classhook" : output);
            String host = hostName();
            String name = FileName.of(System.getProperty("classhook.file-name"), pid, start, host);
            if (name == null) {
                complain("H0804", "the property classhook.file-name is no name of a file in which %p, %h, %t, %u and %% may be; the snapshot is called as without it");
                name = FileName.of(null, pid, start, host);
            }
            SnapshotWriter writer = new SnapshotWriter(new Log(folder, name, json(meta(pid, start, host))));
            Runtime.getRuntime().addShutdownHook(new ShutdownHook(group(), writer));
            writer.thread("Classhook recording", writer).start();
            return writer;
        } catch (Throwable cause) {
            complain("H0801", "nothing is recorded: " + cause);
            return null;
        }
    }

    /** Returns the topmost group, because no group of the application waits for its threads. */
    private static ThreadGroup group() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        return group;
    }

    /** Creates a thread that no thread of the application waits for. */
    Thread thread(String name, Runnable work) {
        Thread thread = new Thread(group(), work, name);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        return thread;
    }

    /** The body of the writing thread. */
    @Override
    public void run() {
        while (true) {
            try {
                Thread.sleep(ended ? INTERVAL_OF_SHUTDOWN : INTERVAL);
                append();
            } catch (InterruptedException ignored) {
                // the application interrupts every thread; this one continues
            } catch (Throwable cause) {
                complain("H0801", "nothing more is recorded: " + cause);
                return;
            }
        }
    }

    synchronized void append() {
        for (Entry entry = NEW.poll(); entry != null; entry = NEW.poll()) {
            register(entry);
        }
        Log.Payload hits = null;
        int next = 0;
        int last = -1;
        for (Entry entry : classes) {
            if (Arrays.equals(entry.hits, entry.known)) {
                continue;
            }
            if (entry.array != last) {
                flushHits(hits);
                hits = new Log.Payload().u2(entry.array);
                last = entry.array;
                next = 0;
            }
            for (int probe = 0; probe < entry.hits.length; probe++) {
                if (entry.hits[probe] != entry.known[probe]) {
                    entry.known[probe] = entry.hits[probe];
                    int found = entry.base + probe;
                    hits.leb128(found - next);
                    log.count(0, 1);
                    next = found + 1;
                }
            }
        }
        flushHits(hits);
        if (!log.isEmpty()) {
            log.add(Log.TIME, new Log.Payload().u8(System.currentTimeMillis()));
            if (ended) {
                writeEnd();
            }
            log.flush();
        }
    }

    private void flushHits(Log.Payload hits) {
        if (hits != null) {
            log.add(Log.HITS, hits);
        }
    }

    /** Reserves a range of an array for a class and adds its records. */
    private void register(Entry entry) {
        int length = entry.hits.length;
        if (base + length > ARRAY_LENGTH) {
            array++;
            base = 0;
        }
        if (array >= MAX_ARRAYS) {
            if (!full) {
                full = true;
                complain("H0803", "there are more probes than a snapshot holds; the classes that follow are not recorded");
            }
            return;
        }
        Key key = new Key(entry.key);
        entry.array = array;
        entry.base = base;
        for (int index = 0; index < key.plugins.length; index++) {
            Log.Payload record = new Log.Payload().u2(array).u2(base).u4(key.counts[index]).u8(key.fingerprint);
            log.add(Log.CLASS, record.text(key.name).text("static").text(key.plugins[index]));
            log.count(1, 0);
            base += key.counts[index];
        }
        classes.add(entry);
    }

    private synchronized void forget() {
        append();
        for (Entry entry : classes) {
            Arrays.fill(entry.hits, (byte) 0);
            Arrays.fill(entry.known, (byte) 0);
        }
        log.add(Log.RESET, new Log.Payload());
        log.flush();
    }

    /** Writes the end record. Later hits of other shutdown hooks are appended behind it, and then the end record again. */
    synchronized void end() {
        append();
        ended = true;
        writeEnd();
        log.flush();
    }

    private void writeEnd() {
        int number = classes.size();
        log.add(Log.END, json("{\"seen\":" + number + ",\"selected\":" + number + ",\"transformed\":" + number + "}"));
    }

    private static Log.Payload json(String text) {
        return new Log.Payload().bytes(Log.Payload.utf8(text));
    }

    private static String meta(long pid, long start, String host) {
        String version = System.getProperty("java.specification.version", "0");
        StringBuilder out = new StringBuilder("{\"pid\":").append(pid).append(",\"start_ms\":").append(start);
        out.append(",\"java_feature\":").append(version.startsWith("1.") ? version.substring(2) : version);
        field(out, "host", host);
        field(out, "jvm", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        field(out, "java_home", System.getProperty("java.home"));
        field(out, "command", System.getProperty("sun.java.command"));
        field(out, "run", System.getProperty("classhook.run"));
        field(out, "session", System.getProperty("classhook.session"));
        return out.append('}').toString();
    }

    static void field(StringBuilder out, String name, String value) {
        if (value == null) {
            return;
        }
        out.append(",\"").append(name).append("\":\"");
        for (int index = 0; index < value.length(); index++) {
            char character = value.charAt(index);
            if (character < ' ' || character == '"' || character == '\\') {
                String digits = Integer.toHexString(0x10000 | character);
                out.append("\\u").append(digits, 1, 5);
            } else {
                out.append(character);
            }
        }
        out.append('"');
    }

    /** Returns the process id from /proc; 0 on other systems, where file names are unique without it. */
    private static long pid() {
        try {
            return Long.parseLong(new File("/proc/self").getCanonicalFile().getName());
        } catch (IOException | NumberFormatException elsewhere) {
            return 0;
        }
    }

    private static String hostName() {
        byte[] name = new byte[256];
        try (InputStream file = new FileInputStream("/proc/sys/kernel/hostname")) {
            return new String(name, 0, Math.max(0, file.read(name))).trim();
        } catch (IOException elsewhere) {
            return null;
        }
    }

    /** A class with its array and the array's last known content. */
    private static final class Entry {
        final String key;
        final byte[] hits;
        final byte[] known;
        int array;
        int base;

        Entry(String key, byte[] hits) {
            this.key = key;
            this.hits = hits;
            known = new byte[hits.length];
        }
    }
}
