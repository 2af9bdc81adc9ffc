package io.github.classhook.maven;

import io.github.classhook.build.Recorded;
import io.github.classhook.build.Tools;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;

/** Requests the execution data of a running JVM, with the protocol of JaCoCo's agent. */
public final class Dump extends Goal {
    private static final long BETWEEN_TRIES = 1000;
    /** The beginning of the command's error for an address at which no process listens. */
    private static final String NOTHING_LISTENS = "error[H0517]";

    private File destFile;
    private boolean append;
    private boolean dump;
    private boolean reset;
    private String address;
    private int port;
    private int retryCount;

    @Override
    void run() throws IOException, MojoExecutionException {
        if (!dump && !reset) {
            getLog().info("Skipping Classhook because jacoco.dump and jacoco.reset are both false.");
            return;
        }
        destFile = own(destFile);
        String of = (address == null ? "localhost" : address) + ":" + port;
        Path dumped = place();
        boolean isKept = false;
        try {
            List<String> words = new ArrayList<>(Arrays.asList("dump", of, "--to", dumped.toString()));
            if (reset) {
                words.add("--reset");
            }
            expectSuccess(asked(words));
            isKept = dump;
        } finally {
            if (!isKept) {
                Files.deleteIfExists(dumped);
            }
        }
        if (dump && !append) {
            for (File older : Recorded.in(destFile)) {
                if (!older.toPath().equals(dumped)) {
                    Files.delete(older.toPath());
                }
            }
        }
    }

    /** The output path: a file beside existing ones, if they are kept. */
    private Path place() throws IOException {
        if (!dump) {
            return Files.createTempFile("classhook-", ".exec");
        }
        Recorded.makeRoom(destFile, true);
        Files.createDirectories(destFile.toPath());
        return Files.createTempFile(destFile.toPath(), "dump-", ".exec");
    }

    /** The command's answer, as soon as the JVM accepts connections. */
    private Tools.Ended asked(List<String> words) throws IOException {
        for (int left = retryCount; true; left--) {
            Tools.Ended ended = command(words);
            if (left <= 0 || ended.lines.stream().noneMatch(line -> line.startsWith(NOTHING_LISTENS))) {
                return ended;
            }
            getLog().info("Nothing listens at " + words.get(1) + " yet; trying again.");
            try {
                Thread.sleep(BETWEEN_TRIES);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new IOException("classhook dump was interrupted", interrupted);
            }
        }
    }
}
