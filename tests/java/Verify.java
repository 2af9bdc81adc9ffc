// Verifies classes with the verifier of the JDK that runs it (25 or newer),
// without loading them, and prints what the rewritten classes have that the
// original ones had not.
//
//   java Verify.java ORIGINAL REWRITTEN...
//
// Each is a folder of class files, or a file that holds, for each class, the
// length of its name (two bytes, big-endian) and the name, the length of the
// class file (four bytes) and the class file. ORIGINAL and REWRITTEN have the
// same names; the JDK's extracted modules have one folder per module. For each
// REWRITTEN one line: its name, how many classes were verified, how many have
// new errors, and how many were refused before as well, are left to the JVM's
// older verifier, or need a class that is in none of the jars, between tabs.
// Exit status: 0 no new error, 1 new errors.

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.constant.ClassDesc;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

public class Verify {
    /** The verifier's message for classes up to version 50, which the JVM passes to its older one. */
    private static final String INFERENCE = "Inference verification is not supported";

    /** Its message for a missing class whose supertypes it needs. */
    private static final String MISSING = "Could not resolve class ";

    /** By the path of the class file, and by that below a module or jar. */
    private static final Map<String, byte[]> BY_NAME = new HashMap<>();

    public static void main(String[] arguments) throws IOException {
        if (arguments.length < 2) {
            System.err.println("usage: java Verify.java ORIGINAL REWRITTEN...");
            System.exit(2);
        }
        Map<String, byte[]> original = read(Path.of(arguments[0]));
        original.forEach((name, bytes) -> {
            BY_NAME.putIfAbsent(name, bytes);
            BY_NAME.putIfAbsent(name.substring(name.indexOf('/') + 1), bytes);
        });
        ClassHierarchyResolver ours = ClassHierarchyResolver.ofResourceParsing(Verify::open)
                .cached(ConcurrentHashMap::new);
        ClassHierarchyResolver both = ours.orElse(ClassHierarchyResolver.defaultResolver());
        ClassFile context = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(both));
        boolean sound = true;
        for (int i = 1; i < arguments.length; i++) {
            sound &= verify(context, original, Path.of(arguments[i]));
        }
        System.exit(sound ? 0 : 1);
    }

    private static boolean verify(ClassFile context, Map<String, byte[]> original, Path source) throws IOException {
        AtomicInteger refused = new AtomicInteger();
        AtomicInteger broken = new AtomicInteger();
        Map<String, byte[]> rewritten = read(source);
        rewritten.entrySet().parallelStream().forEach(entry -> {
            List<String> after = errors(context, entry.getValue());
            if (after.isEmpty()) {
                return;
            }
            Set<String> before = errors(context, original.get(entry.getKey())).stream()
                    .map(Verify::withoutNumbers).collect(Collectors.toSet());
            boolean old = (entry.getValue()[6] & 0xFF) == 0 && (entry.getValue()[7] & 0xFF) <= 50;
            List<String> fresh = after.stream().filter(e -> !before.contains(withoutNumbers(e)))
                    .filter(e -> !(old && e.equals(INFERENCE)))
                    .filter(e -> !e.contains(MISSING)).toList();
            if (fresh.isEmpty()) {
                refused.incrementAndGet();
                return;
            }
            broken.incrementAndGet();
            synchronized (System.out) {
                System.out.println(source.getFileName() + ": " + entry.getKey());
                fresh.stream().limit(3).forEach(error -> System.out.println("    " + error));
            }
        });
        System.out.println(source.getFileName() + "\t" + rewritten.size() + "\t" + broken + "\t" + refused);
        return broken.get() == 0;
    }

    private static Map<String, byte[]> read(Path source) throws IOException {
        Map<String, byte[]> classes = new LinkedHashMap<>();
        if (Files.isDirectory(source)) {
            try (Stream<Path> files = Files.walk(source)) {
                for (Path file : files.filter(file -> file.toString().endsWith(".class")).toList()) {
                    classes.put(source.relativize(file).toString(), Files.readAllBytes(file));
                }
            }
            return classes;
        }
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(source)))) {
            for (int high = in.read(); high >= 0; high = in.read()) {
                byte[] name = in.readNBytes(high << 8 | in.readUnsignedByte());
                byte[] bytes = in.readNBytes(in.readInt());
                classes.put(new String(name, StandardCharsets.UTF_8), bytes);
            }
        }
        return classes;
    }

    private static java.io.InputStream open(ClassDesc type) {
        String descriptor = type.descriptorString();
        byte[] bytes = BY_NAME.get(descriptor.substring(1, descriptor.length() - 1) + ".class");
        return bytes == null ? null : new ByteArrayInputStream(bytes);
    }

    private static List<String> errors(ClassFile context, byte[] bytes) {
        try {
            return context.verify(bytes).stream().map(Throwable::getMessage).toList();
        } catch (RuntimeException error) {
            return List.of(error.toString());
        }
    }

    /** Offsets and indices move when code is inserted; the fault stays the same. */
    private static String withoutNumbers(String message) {
        return String.valueOf(message).lines().findFirst().orElse("").replaceAll("[0-9]+", "#");
    }
}
