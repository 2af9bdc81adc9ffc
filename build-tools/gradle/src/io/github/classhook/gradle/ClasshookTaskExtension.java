package io.github.classhook.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** What is measured of the JVMs of a task. */
public class ClasshookTaskExtension {
    private boolean enabled = true;
    private File destinationFile;
    private List<String> includes = new ArrayList<>();
    private List<String> excludes = new ArrayList<>();

    public boolean isEnabled() {
        return enabled;
    }

    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    /** The folder in which each JVM leaves a snapshot. */
    public File getDestinationFile() {
        return destinationFile;
    }

    public void setDestinationFile(File destinationFile) {
        this.destinationFile = destinationFile;
    }

    /** Wildcards over names of classes; all if there are none. */
    public List<String> getIncludes() {
        return includes;
    }

    public void setIncludes(List<String> includes) {
        this.includes = includes;
    }

    public List<String> getExcludes() {
        return excludes;
    }

    public void setExcludes(List<String> excludes) {
        this.excludes = excludes;
    }

    /** All of it, since the task is not up to date when it changes. */
    @Override
    public String toString() {
        return enabled + " " + destinationFile + " " + includes + " " + excludes;
    }
}
