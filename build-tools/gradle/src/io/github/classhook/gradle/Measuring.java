package io.github.classhook.gradle;

import io.github.classhook.build.Recorded;
import io.github.classhook.build.Tools;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.gradle.api.Action;
import org.gradle.api.Task;
import org.gradle.process.JavaForkOptions;

/** Adds the agent to the JVMs of a task immediately before it starts them, and deletes earlier recordings. */
final class Measuring implements Action<Task> {
    private final ClasshookExtension extension;
    private final ClasshookTaskExtension settings;
    private final File buildFolder;

    Measuring(ClasshookExtension extension, ClasshookTaskExtension settings, File buildFolder) {
        this.extension = extension;
        this.settings = settings;
        this.buildFolder = buildFolder;
    }

    @Override
    public void execute(Task task) {
        if (!settings.isEnabled()) {
            return;
        }
        try {
            File snapshots = settings.getDestinationFile();
            Recorded.makeRoom(snapshots, false);
            String options = settings.options().text();
            Tools tools = Tools.find(extension.getHome(), buildFolder);
            ((JavaForkOptions) task).jvmArgs("-agentpath:" + tools.library() + "=" + options);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
