package classhook.runtime;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.zip.CRC32;

/**
 * A snapshot file (docs/snapshot-format.md, version 1): records are collected and written together.
 * Numbers are little-endian.
 */
final class Log {
    static final int META = 1;
    static final int CLASS = 2;
    static final int HITS = 3;
    static final int TIME = 4;
    static final int RESET = 5;
    static final int END = 7;

    private static final byte[] MAGIC = {(byte) 0x8E, 'H', 'O', 'O', 'K', '\r', '\n', 0x1A};
    private static final int VERSION = 1;
    private static final int MARKER = 0xA7C5;

    private final File path;
    private final RandomAccessFile file;
    /** Whole records that are not written yet. */
    private final ByteArrayOutputStream waiting = new ByteArrayOutputStream();
    /** Bytes of the file that are whole records. */
    private long length;
    private boolean failing;

    /** Makes a file of its own in the folder, which is made, too. */
    Log(File folder, long pid, long start) throws IOException {
        folder.mkdirs();
        File candidate;
        do {
            int nonce = (int) (System.nanoTime() * 0x9E3779B97F4A7C15L >>> 32) ^ System.identityHashCode(new Object());
            candidate = new File(folder, String.format("classhook-%d-%d-%08x.hook", pid, start, nonce));
        } while (!candidate.createNewFile());
        path = candidate;
        file = new RandomAccessFile(path, "rw");
        Payload header = new Payload().bytes(MAGIC).u4(VERSION);
        header.u4(header.crc()).writeTo(waiting);
    }

    void add(int kind, Payload payload) {
        Payload head = new Payload().u2(MARKER).u2(kind).u4(payload.size());
        head.u4(head.crc()).writeTo(waiting);
        payload.writeTo(waiting);
        new Payload().u4(payload.crc()).writeTo(waiting);
    }

    boolean isEmpty() {
        return waiting.size() == 0;
    }

    /** Writes what was added; if that fails, keeps it for the next time and warns once. */
    void flush() {
        try {
            file.seek(length);
            file.write(waiting.toByteArray());
            length += waiting.size();
            waiting.reset();
            failing = false;
        } catch (IOException cause) {
            try {
                file.setLength(length);
            } catch (IOException ignored) {
                // a reader accepts a part of a record at the end of a file
            }
            if (!failing) {
                failing = true;
                SnapshotWriter.complain("H0802", "cannot write " + path + ": " + cause.getMessage() + "; it is tried again");
            }
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

        /** At most 65,535 bytes of UTF-8 behind their number; what is longer is cut between two characters. */
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

        void writeTo(ByteArrayOutputStream target) {
            byte[] bytes = out.toByteArray();
            target.write(bytes, 0, bytes.length);
        }

        static byte[] utf8(String text) {
            return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        }
    }
}
