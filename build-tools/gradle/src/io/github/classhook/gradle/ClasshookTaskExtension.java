package io.github.classhook.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** The measurement settings of a task's JVMs. */
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

    /** The folder in which each JVM writes a snapshot. */
    public File getDestinationFile() {
        return destinationFile;
    }

    public void setDestinationFile(File destinationFile) {
        this.destinationFile = destinationFile;
    }

    /** Wildcards over class names; all classes if empty. */
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

    /** Contains all settings, because the task is out of date when one changes. */
    @Override
    public String toString() {
        return enabled + " " + destinationFile + " " + includes + " " + excludes;
    }
}
