// Verifies classes with the verifier of the JDK that runs it (25 or newer),
// without loading them, and prints what the rewritten classes have that the
// original ones had not.
//
//   java Verify.java ORIGINAL REWRITTEN [MORE_CLASSES…]
//
// ORIGINAL and REWRITTEN are folders with the same relative paths; the JDK's
// extracted modules have one folder per module. MORE_CLASSES are folders in
// which superclasses are looked up. Exit status: 0 no new error, 1 new errors.

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.constant.ClassDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

public class Verify {
    private static final Map<String, Path> BY_NAME = new ConcurrentHashMap<>();

    public static void main(String[] arguments) throws IOException {
        if (arguments.length < 2) {
            System.err.println("usage: java Verify.java ORIGINAL REWRITTEN [MORE_CLASSES...]");
            System.exit(2);
        }
        Path original = Path.of(arguments[0]);
        Path rewritten = Path.of(arguments[1]);
        List<Path> roots = new ArrayList<>(List.of(original));
        for (int i = 2; i < arguments.length; i++) {
            roots.add(Path.of(arguments[i]));
        }
        for (Path root : roots) {
            for (Path file : classes(root)) {
                index(root, file);
            }
        }
        ClassHierarchyResolver ours = ClassHierarchyResolver.ofResourceParsing(Verify::open)
                .cached(ConcurrentHashMap::new);
        ClassHierarchyResolver both = ours.orElse(ClassHierarchyResolver.defaultResolver());
        ClassFile context = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(both));

        AtomicInteger checked = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        AtomicInteger broken = new AtomicInteger();
        classes(rewritten).parallelStream().forEach(file -> {
            Path relative = rewritten.relativize(file);
            List<String> after = errors(context, file);
            checked.incrementAndGet();
            if (after.isEmpty()) {
                return;
            }
            Set<String> before = errors(context, original.resolve(relative)).stream()
                    .map(Verify::withoutNumbers).collect(Collectors.toSet());
            List<String> fresh = after.stream().filter(e -> !before.contains(withoutNumbers(e))).toList();
            if (fresh.isEmpty()) {
                refused.incrementAndGet();
                return;
            }
            broken.incrementAndGet();
            synchronized (System.out) {
                System.out.println(relative);
                fresh.stream().limit(3).forEach(error -> System.out.println("    " + error));
            }
        });
        System.out.println("verified " + checked + " classes: " + broken + " with new errors, "
                + refused + " refused before as well");
        System.exit(broken.get() == 0 ? 0 : 1);
    }

    private static List<Path> classes(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(".class")).toList();
        }
    }

    /** Registers a file under its path and, for extracted modules, under the path below the module. */
    private static void index(Path root, Path file) {
        Path relative = root.relativize(file);
        BY_NAME.putIfAbsent(relative.toString(), file);
        if (relative.getNameCount() > 1) {
            BY_NAME.putIfAbsent(relative.subpath(1, relative.getNameCount()).toString(), file);
        }
    }

    private static java.io.InputStream open(ClassDesc type) {
        String descriptor = type.descriptorString();
        Path file = BY_NAME.get(descriptor.substring(1, descriptor.length() - 1) + ".class");
        try {
            return file == null ? null : Files.newInputStream(file);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static List<String> errors(ClassFile context, Path file) {
        try {
            return context.verify(Files.readAllBytes(file)).stream().map(Throwable::getMessage).toList();
        } catch (IOException | RuntimeException error) {
            return List.of(error.toString());
        }
    }

    /** Offsets and indices move when code is inserted; what is wrong does not. */
    private static String withoutNumbers(String message) {
        return String.valueOf(message).lines().findFirst().orElse("").replaceAll("[0-9]+", "#");
    }
}
