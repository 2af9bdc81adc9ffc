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
 * What this JVM's probes have recorded: a thread compares the arrays with what was seen last, and appends what is
 * new to the snapshot file.
 *
 * <p>No thread of the application ever waits here, unless it asks for {@link Probes#write}.
 */
final class Recording implements Runnable {
    /** Probes that one array of a snapshot holds, and how many arrays it has at most. */
    private static final int ARRAY_LENGTH = 32768;
    private static final int MAX_ARRAYS = 4096;
    /** Milliseconds; what is older than twice this survives a kill. */
    private static final long INTERVAL = 50;

    /** Classes that the recording thread has not seen yet. */
    private static final Queue<Entry> NEW = new ConcurrentLinkedQueue<>();
    /** Null if there is no file to write to; that has been said then. */
    private static final Recording THIS = start();

    private final Log log;
    private final List<Entry> classes = new ArrayList<>();
    /** Where the next class's probes go. */
    private int array;
    private int slot;
    private boolean full;
    private boolean ended;

    private Recording(Log log) {
        this.log = log;
    }

    /** Notes a class and its array. */
    static void add(String key, byte[] array) {
        if (THIS != null) {
            NEW.add(new Entry(key, array));
        }
    }

    static void write() {
        if (THIS != null) {
            THIS.record();
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

    private static Recording start() {
        try {
            String output = System.getProperty("classhook.output");
            if (output == null) {
                output = System.getenv("CLASSHOOK_OUTPUT");
            }
            long pid = pid();
            long start = System.currentTimeMillis();
            File folder = new File(output == null || output.isEmpty() ? "classhook" : output);
            Recording recording = new Recording(new Log(folder, pid, start));
            recording.log.add(Log.META, json(meta(pid, start)));
            recording.log.flush();
            Runtime.getRuntime().addShutdownHook(recording.thread("Classhook end", new End(recording)));
            recording.thread("Classhook recording", recording).start();
            return recording;
        } catch (Throwable cause) {
            complain("H0801", "nothing is recorded: " + cause);
            return null;
        }
    }

    /** In the topmost group, so that no group of the application waits for it. */
    private Thread thread(String name, Runnable work) {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        Thread thread = new Thread(group, work, name);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        return thread;
    }

    /** The recording thread. */
    @Override
    public void run() {
        while (true) {
            try {
                Thread.sleep(INTERVAL);
                record();
            } catch (InterruptedException ignored) {
                // somebody interrupts every thread there is: this one goes on
            } catch (Throwable cause) {
                complain("H0801", "nothing more is recorded: " + cause);
                return;
            }
        }
    }

    private synchronized void record() {
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
                    int found = entry.slot + probe;
                    hits.leb128(found - next);
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

    /** Gives a class its slots and writes its record. */
    private void register(Entry entry) {
        int length = entry.hits.length;
        if (slot + length > ARRAY_LENGTH) {
            array++;
            slot = 0;
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
        entry.slot = slot;
        for (int index = 0; index < key.plugins.length; index++) {
            Log.Payload record = new Log.Payload().u2(array).u2(slot).u4(key.counts[index]).u8(key.fingerprint);
            log.add(Log.CLASS, record.text(key.name).text("static").text(key.plugins[index]));
            slot += key.counts[index];
        }
        classes.add(entry);
    }

    private synchronized void forget() {
        record();
        for (Entry entry : classes) {
            Arrays.fill(entry.hits, (byte) 0);
            Arrays.fill(entry.known, (byte) 0);
        }
        log.add(Log.RESET, new Log.Payload());
        log.flush();
    }

    /** The last record. What is hit while the JVM goes down, in other shutdown hooks, still follows, and then the end again. */
    private synchronized void end() {
        record();
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

    private static String meta(long pid, long start) {
        String version = System.getProperty("java.specification.version", "0");
        StringBuilder out = new StringBuilder("{\"pid\":").append(pid).append(",\"start_ms\":").append(start);
        out.append(",\"java_feature\":").append(version.startsWith("1.") ? version.substring(2) : version);
        field(out, "host", hostName());
        field(out, "jvm", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        field(out, "java_home", System.getProperty("java.home"));
        field(out, "command", System.getProperty("sun.java.command"));
        field(out, "run", System.getProperty("classhook.run"));
        field(out, "session", System.getProperty("classhook.session"));
        return out.append('}').toString();
    }

    private static void field(StringBuilder out, String name, String value) {
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

    /** Where Linux tells it; 0 elsewhere, as names of files differ without it, too. */
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

    /** A class with its array, and what was last seen of it. */
    private static final class Entry {
        final String key;
        final byte[] hits;
        final byte[] known;
        int array;
        int slot;

        Entry(String key, byte[] hits) {
            this.key = key;
            this.hits = hits;
            known = new byte[hits.length];
        }
    }

    /** Runs when the JVM ends. */
    private static final class End implements Runnable {
        private final Recording recording;

        End(Recording recording) {
            this.recording = recording;
        }

        @Override
        public void run() {
            recording.end();
        }
    }
}
