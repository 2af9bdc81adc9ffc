package classhook.runtime;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * A snapshot file (docs/snapshot-format.md, version 1). Records
 * are collected and written together. Numbers are little-endian.
 */
final class Log {
    private static final int META = 1;
    static final int CLASS = 2;
    static final int HITS = 3;
    static final int TIME = 4;
    static final int RESET = 5;
    static final int END = 7;
    private static final int INCOMPLETE = 8;

    private static final byte[] MAGIC = {(byte) 0x8E, 'H', 'O', 'O', 'K', '\r', '\n', 0x1A};
    private static final int VERSION = 1;
    private static final int MARKER = 0xA7C5;
    /** Upper limit for the size of the record that marks the file as incomplete. */
    private static final int MARK_LENGTH = 256;
    /** Number of flushes that can be reverted: more bytes than a block of a file system has. */
    private static final int MOST_TAKEN_BACK = 256;

    private final File path;
    private final RandomAccessFile file;
    /** Complete records that are not written yet. */
    private final ByteArrayOutputStream waiting = new ByteArrayOutputStream();
    /** The numbers of classes and probes in {@link #waiting}. */
    private int classes;
    private int probes;
    /** Bytes of the file with complete records, without the record that marks it as incomplete. */
    private long length;
    /** The last flushes, latest first, which are reverted if there is no space for that record. */
    private final ArrayDeque<Written> last = new ArrayDeque<>();
    /** The time of the first failed write; 0 if none failed. */
    private long failing;

    /** Creates the folder and a new file in it; fails if there is no space to mark it as full. */
    Log(File folder, String name, Payload meta) throws IOException {
        folder.mkdirs();
        File candidate;
        do {
            int nonce = (int) (System.nanoTime() * 0x9E3779B97F4A7C15L >>> 32) ^ System.identityHashCode(new Object());
            candidate = new File(folder, name + String.format("-%08x.hook", nonce));
        } while (!candidate.createNewFile());
        path = candidate;
        file = new RandomAccessFile(path, "rw");
        Payload header = new Payload().bytes(MAGIC).u4(VERSION);
        byte[] bytes = header.u4(header.crc()).toByteArray();
        waiting.write(bytes, 0, bytes.length);
        add(META, meta);
        try {
            write(Arrays.copyOf(waiting.toByteArray(), waiting.size() + MARK_LENGTH));
            length = waiting.size();
            file.setLength(length);
            waiting.reset();
        } catch (IOException cause) {
            path.delete();
            throw cause;
        }
    }

    void add(int kind, Payload payload) {
        byte[] record = record(kind, payload);
        waiting.write(record, 0, record.length);
    }

    /** Counts the classes and probes of added records. */
    void count(int moreClasses, int moreProbes) {
        classes += moreClasses;
        probes += moreProbes;
    }

    boolean isEmpty() {
        return waiting.size() == 0;
    }

    /** Writes the added records. On failure, keeps them for the next flush, marks the file and warns once. */
    void flush() {
        try {
            write(waiting.toByteArray());
            last.push(new Written(waiting.toByteArray(), classes, probes));
            while (last.size() > MOST_TAKEN_BACK) {
                last.removeLast();
            }
            length += waiting.size();
            waiting.reset();
            classes = 0;
            probes = 0;
            failing = 0;
        } catch (IOException cause) {
            boolean isNew = failing == 0;
            if (isNew) {
                failing = System.currentTimeMillis();
            }
            mark(String.valueOf(cause.getMessage()));
            if (isNew) {
                SnapshotWriter.complain("H0802", "cannot write " + path + ": " + cause.getMessage() + "; it is tried again");
            }
        }
    }

    /** Ends the file with a record of the missing data; frees space for it if necessary. */
    private void mark(String cause) {
        while (true) {
            StringBuilder text = new StringBuilder("{\"since_ms\":").append(failing);
            text.append(",\"classes\":").append(classes).append(",\"probes\":").append(probes);
            SnapshotWriter.field(text, "cause", cause);
            try {
                write(record(INCOMPLETE, new Payload().bytes(Payload.utf8(text.append('}').toString()))));
                return;
            } catch (IOException full) {
                Written taken = last.poll();
                if (taken == null) {
                    return;
                }
                byte[] rest = waiting.toByteArray();
                waiting.reset();
                waiting.write(taken.bytes, 0, taken.bytes.length);
                waiting.write(rest, 0, rest.length);
                count(taken.classes, taken.probes);
                length -= taken.bytes.length;
            }
        }
    }

    /** Writes these bytes behind the complete records; on failure, restores the end of the file. */
    private void write(byte[] bytes) throws IOException {
        try {
            file.seek(length);
            file.write(bytes);
            file.setLength(length + bytes.length);
        } catch (IOException cause) {
            try {
                file.setLength(length);
            } catch (IOException ignored) {
                // a reader accepts an incomplete record at the end of a file
            }
            throw cause;
        }
    }

    private static byte[] record(int kind, Payload payload) {
        Payload record = new Payload().u2(MARKER).u2(kind).u4(payload.size());
        record.u4(record.crc()).bytes(payload.toByteArray()).u4(payload.crc());
        return record.toByteArray();
    }

    /** The content of one flush. */
    private static final class Written {
        final byte[] bytes;
        final int classes;
        final int probes;

        Written(byte[] bytes, int classes, int probes) {
            this.bytes = bytes;
            this.classes = classes;
            this.probes = probes;
        }
    }

    /** Bytes of a record. */
    static final class Payload {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        Payload bytes(byte[] bytes) {
            out.write(bytes, 0, bytes.length);
            return this;
        }

        Payload u2(int value) {
            out.write(value);
            out.write(value >>> 8);
            return this;
        }

        Payload u4(int value) {
            return u2(value).u2(value >>> 16);
        }

        Payload u8(long value) {
            return u4((int) value).u4((int) (value >>> 32));
        }

        /** Appends the number of bytes and at most 65,535 bytes of UTF-8; cuts between two characters. */
        Payload text(String text) {
            byte[] bytes = utf8(text);
            int length = Math.min(bytes.length, 0xFFFF);
            while (length < bytes.length && (bytes[length] & 0xC0) == 0x80) {
                length--;
            }
            u2(length);
            out.write(bytes, 0, length);
            return this;
        }

        /** LEB128. */
        Payload leb128(int value) {
            int rest = value;
            while (rest >= 0x80) {
                out.write(rest | 0x80);
                rest >>>= 7;
            }
            out.write(rest);
            return this;
        }

        int size() {
            return out.size();
        }

        int crc() {
            CRC32 sum = new CRC32();
            sum.update(out.toByteArray());
            return (int) sum.getValue();
        }

        byte[] toByteArray() {
            return out.toByteArray();
        }

        static byte[] utf8(String text) {
            return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        }
    }
}
