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

/** Where the classes of a project are while they have probes: before, with probes, and in use. */
final class Offline {
    /** Where JaCoCo's plugin keeps the classes as they were. */
    private final Path before;
    /** All files as the command wrote them; there from instrumenting to restoring. */
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
     * Takes what the command wrote into use, and keeps what it takes the place of.
     *
     * <p>Classes that have probes already, of a build that ended before it restored them, are as they were written, and
     * stay; so does what was kept of them.
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

    /** Puts the classes back that were not compiled again since, and removes what was added. */
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
