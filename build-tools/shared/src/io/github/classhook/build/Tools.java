package io.github.classhook.build;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The command and the agent library: from a configured folder, or unpacked from the jar of this platform. */
public final class Tools {
    /** The exit code of a command with an incomplete answer. */
    public static final int PARTIAL = 3;
    /** The exit code of a command that finds less coverage than its rules require. */
    public static final int SHORT = 4;

    private static final String COMMAND = "classhook";
    private static final String LIBRARY = "libclasshook.so";

    /** Versions that no build has used for this time are removed when another version is unpacked. */
    private static final Duration UNUSED = Duration.ofDays(30);

    private final Path folder;

    private Tools(Path folder) {
        this.folder = folder;
    }

    /** The result of a command. */
    public static final class Ended {
        public final String name;
        public final int code;
        public final List<String> lines;

        Ended(String name, int code, List<String> lines) {
            this.name = name;
            this.code = code;
            this.lines = lines;
        }
    }

    public static Tools find(File home, File buildFolder) throws IOException {
        if (home == null) {
            return new Tools(unpacked(buildFolder.toPath()));
        }
        for (String name : new String[] {COMMAND, LIBRARY}) {
            if (!new File(home, name).isFile()) {
                throw new IOException("classhook.home: expected a folder with " + COMMAND + " and " + LIBRARY
                        + ", found no " + name + " in " + home);
            }
        }
        return new Tools(home.toPath());
    }

    public Path library() {
        return folder.resolve(LIBRARY);
    }

    public Ended run(File where, List<String> words) throws IOException {
        List<String> line = new ArrayList<>();
        line.add(folder.resolve(COMMAND).toString());
        line.addAll(words);
        ProcessBuilder builder = new ProcessBuilder(line).directory(where).redirectErrorStream(true);
        Process process = builder.start();
        try {
            process.getOutputStream().close();
            List<String> said = new ArrayList<>();
            BufferedReader output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            for (String text = output.readLine(); text != null; text = output.readLine()) {
                said.add(text);
            }
            return new Ended(words.get(0), process.waitFor(), said);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("classhook " + words.get(0) + " was interrupted", interrupted);
        } finally {
            process.destroy();
        }
    }

    /** The folder of these files in the user's cache; if that is not writable, in the build folder. */
    private static Path unpacked(Path buildFolder) throws IOException {
        String platform = platform();
        String digest;
        try (InputStream file = resource(platform, "digest")) {
            digest = new BufferedReader(new InputStreamReader(file, StandardCharsets.US_ASCII)).readLine();
        }
        try {
            return unpacked(platform, cache().resolve("native").resolve(digest));
        } catch (IOException unwritable) {
            try {
                return unpacked(platform, buildFolder.resolve("classhook-native").resolve(digest));
            } catch (IOException error) {
                error.addSuppressed(unwritable);
                throw new IOException("cannot unpack the agent: " + error + "; the cache is not writable either: " + unwritable, error);
            }
        }
    }

    /** Unpacks atomically: another build may do the same at this moment, and the first one wins. */
    private static Path unpacked(String platform, Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            markAsUsed(folder);
            return folder;
        }
        Path parent = folder.getParent();
        Files.createDirectories(parent, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path made = Files.createTempDirectory(parent, "unpacking-");
        try {
            for (String name : new String[] {COMMAND, LIBRARY}) {
                try (InputStream file = resource(platform, name)) {
                    Files.copy(file, made.resolve(name));
                }
            }
            Files.setPosixFilePermissions(made.resolve(COMMAND), PosixFilePermissions.fromString("rwx------"));
            Files.move(made, folder, StandardCopyOption.ATOMIC_MOVE);
            removeUnused(parent);
        } catch (FileSystemException error) {
            if (!Files.isDirectory(folder)) {
                throw error;
            }
        } finally {
            remove(made);
        }
        return folder;
    }

    private static void remove(Path unpacked) throws IOException {
        for (String name : new String[] {COMMAND, LIBRARY, ""}) {
            Files.deleteIfExists(unpacked.resolve(name));
        }
    }

    private static void markAsUsed(Path folder) {
        try {
            Files.setLastModifiedTime(folder, FileTime.from(Instant.now()));
        } catch (IOException shared) {
            // The file belongs to another build: it may be unpacked again.
        }
    }

    /** Ignores errors: another build may remove the same folders at this moment, and unknown files stay. */
    private static void removeUnused(Path parent) {
        FileTime oldest = FileTime.from(Instant.now().minus(UNUSED));
        try (DirectoryStream<Path> versions = Files.newDirectoryStream(parent)) {
            for (Path version : versions) {
                if (Files.getLastModifiedTime(version).compareTo(oldest) < 0) {
                    remove(version);
                }
            }
        } catch (IOException | DirectoryIteratorException stays) {
            // The next unpacked version tries again.
        }
    }

    private static Path cache() {
        String cache = System.getenv("XDG_CACHE_HOME");
        boolean isNamed = cache != null && cache.startsWith("/");
        return new File(isNamed ? cache : System.getProperty("user.home") + "/.cache", "classhook").toPath();
    }

    private static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).replace(' ', '-');
        String processor = System.getProperty("os.arch");
        return system + "-" + (processor.equals("amd64") ? "x86_64" : processor);
    }

    private static InputStream resource(String platform, String name) throws IOException {
        InputStream file = Tools.class.getResourceAsStream("native/" + platform + "/" + name);
        if (file == null) {
            throw new IOException("this plugin has no agent for " + platform + ", only for linux-x86_64;"
                    + " skip it there, or name a folder with another agent (classhook.home)");
        }
        return file;
    }
}
