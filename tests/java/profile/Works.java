import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.Deflater;

/** Keeps the collector and native code busy, until the system reports some CPU time of each. */
public class Works {
    /** Ticks of 10 ms. */
    static final long ENOUGH = 30;

    static Object kept;

    /** The ticks of threads with this name. */
    static long ticks(String name) throws Exception {
        long sum = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Paths.get("/proc/self/task"))) {
            for (Path task : tasks) {
                String line = new String(Files.readAllBytes(task.resolve("stat")));
                if (line.contains("(" + name)) {
                    String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
                    sum += Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
                }
            }
        }
        return sum;
    }

    static void collect() throws Exception {
        List<byte[]> many = new ArrayList<>();
        for (int at = 0; at < 200_000; at++) {
            many.add(new byte[32]);
        }
        kept = many;
        while (ticks("GC Thread#") < ENOUGH) {
            System.gc();
        }
    }

    static void deflate() {
        byte[] noise = new byte[1 << 16];
        new Random(1).nextBytes(noise);
        byte[] out = new byte[1 << 17];
        // The clock is read rarely, so that samples are in the native code.
        long end = cpu() + 3 * ENOUGH * 10_000_000;
        while (cpu() < end) {
            for (int round = 0; round < 50; round++) {
                Deflater deflater = new Deflater(9);
                deflater.setInput(noise);
                deflater.finish();
                deflater.deflate(out);
                deflater.end();
            }
        }
    }

    static long cpu() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    public static void main(String[] arguments) throws Exception {
        collect();
        deflate();
        System.out.println("worked");
    }
}
