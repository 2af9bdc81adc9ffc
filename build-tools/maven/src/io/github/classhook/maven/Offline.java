package io.github.classhook.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.project.MavenProject;

/** The paths of a project's statically instrumented classes: original, with probes, and in use. */
final class Offline {
    /** The folder in which JaCoCo's plugin keeps the original classes. */
    private final Path before;
    /** All files as the command wrote them; they exist from instrumentation to restoration. */
    private final Path written;
    private final Path classes;

    Offline(MavenProject project) {
        Path target = new File(project.getBuild().getDirectory()).toPath();
        before = target.resolve("generated-classes/jacoco");
        written = target.resolve("classhook/instrumented");
        classes = new File(project.getBuild().getOutputDirectory()).toPath();
    }

    File classes() {
        return classes.toFile();
    }

    Path written() {
        return written;
    }

    boolean isThere() {
        return Files.isDirectory(written);
    }

    /**
     * Copies the files that the command wrote to the class folder, and keeps the replaced originals.
     *
     * <p>Classes with probes from a build that ended before it restored them stay unchanged, and so do their kept
     * originals.
     */
    void use() throws IOException {
        for (Path file : files(written)) {
            Path used = classes.resolve(file);
            Path fresh = written.resolve(file);
            if (!Files.exists(used)) {
                copy(fresh, used);
            } else if (!isSame(fresh, used)) {
                copy(used, before.resolve(file));
                copy(fresh, used);
            }
        }
    }

    /** Restores the classes that were not compiled again since, and removes added files. */
    int restore() throws IOException {
        int restored = 0;
        for (Path file : files(written)) {
            Path used = classes.resolve(file);
            Path kept = before.resolve(file);
            if (!Files.exists(used) || !isSame(written.resolve(file), used)) {
                continue;
            }
            if (Files.exists(kept)) {
                copy(kept, used);
                restored++;
            } else if (file.startsWith("classhook/runtime")) {
                Files.delete(used);
                removeIfEmpty(used.getParent());
            }
        }
        removeWritten();
        return restored;
    }

    void removeWritten() throws IOException {
        if (!isThere()) {
            return;
        }
        try (Stream<Path> all = Files.walk(written)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).collect(Collectors.toList())) {
                Files.delete(path);
            }
        }
    }

    private void removeIfEmpty(Path folder) throws IOException {
        for (Path empty = folder; !empty.equals(classes); empty = empty.getParent()) {
            try (Stream<Path> content = Files.list(empty)) {
                if (content.findAny().isPresent()) {
                    return;
                }
            }
            Files.delete(empty);
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).map(folder::relativize).collect(Collectors.toList());
        }
    }

    private static boolean isSame(Path one, Path other) throws IOException {
        return Files.size(one) == Files.size(other) && Arrays.equals(Files.readAllBytes(one), Files.readAllBytes(other));
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to.getParent());
        Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
    }
}
