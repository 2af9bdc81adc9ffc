package io.github.classhook.build;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The recordings of test JVMs: a folder with one file each, or a single file, which may be JaCoCo's. */
public final class Recorded {
    private Recorded() {
    }

    public static boolean isThere(File place) {
        return place.isFile() || !in(place).isEmpty();
    }

    /**
     * Makes the path a folder in which each JVM can write a file. An existing JaCoCo file becomes one of them.
     *
     * @param append keeps earlier recordings
     */
    public static void makeRoom(File place, boolean append) throws IOException {
        Path folder = place.toPath();
        if (Files.isRegularFile(folder)) {
            Path aside = folder.resolveSibling(folder.getFileName() + ".before");
            Files.move(folder, aside, StandardCopyOption.REPLACE_EXISTING);
            Files.createDirectory(folder);
            Files.move(aside, folder.resolve("before.exec"));
        }
        if (!append) {
            for (File file : in(place)) {
                Files.delete(file.toPath());
            }
        }
    }

    /** The recordings directly in a folder; empty without such a folder. */
    public static List<File> in(File folder) {
        List<File> all = new ArrayList<>();
        File[] files = folder.listFiles((in, name) -> name.endsWith(".hook") || name.endsWith(".exec"));
        Collections.addAll(all, files == null ? new File[0] : files);
        return all;
    }

    /** The files and folders below a folder that match Ant's patterns and contain recordings. */
    public static Set<String> below(File base, List<String> includes, List<String> excludes) throws IOException {
        PathPatterns patterns = new PathPatterns(includes, excludes);
        Set<String> found = new TreeSet<>();
        if (!base.isDirectory()) {
            return found;
        }
        Path root = base.toPath();
        Files.walkFileTree(root, new SimpleFileVisitor<Path>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return take(folder) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                take(file);
                return FileVisitResult.CONTINUE;
            }

            private boolean take(Path path) {
                String relative = root.relativize(path).toString();
                boolean isMatch = !relative.isEmpty() && patterns.match(relative) && isThere(path.toFile());
                return isMatch && found.add(path.toString());
            }
        });
        return found;
    }
}
