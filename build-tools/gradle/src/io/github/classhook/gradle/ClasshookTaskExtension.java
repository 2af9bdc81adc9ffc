package io.github.classhook.gradle;

import io.github.classhook.build.AgentOptions;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The measurement settings of a task's JVMs. */
public class ClasshookTaskExtension {
    private boolean enabled = true;
    private File destinationFile;
    private List<String> includes = new ArrayList<>();
    private List<String> excludes = new ArrayList<>();
    private List<String> excludeClassLoaders = new ArrayList<>();
    private boolean includeNoLocationClasses;
    private boolean exactLines;

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

    /** Wildcards over the class names of class loaders whose classes are not measured. */
    public List<String> getExcludeClassLoaders() {
        return excludeClassLoaders;
    }

    public void setExcludeClassLoaders(List<String> excludeClassLoaders) {
        this.excludeClassLoaders = excludeClassLoaders;
    }

    /** Measures classes without a source location, too. */
    public boolean isIncludeNoLocationClasses() {
        return includeNoLocationClasses;
    }

    public void setIncludeNoLocationClasses(boolean includeNoLocationClasses) {
        this.includeNoLocationClasses = includeNoLocationClasses;
    }

    /** Counts executed code on lines that ended with an exception, too. */
    public boolean isExactLines() {
        return exactLines;
    }

    public void setExactLines(boolean exactLines) {
        this.exactLines = exactLines;
    }

    AgentOptions options() throws IOException {
        return new AgentOptions(destinationFile).classes(includes, excludes).withoutLoaders(excludeClassLoaders)
                .withoutLocation(includeNoLocationClasses).exactLines(exactLines);
    }

    /** Contains all settings, because the task is out of date when one changes. */
    @Override
    public String toString() {
        return enabled + " " + destinationFile + " " + includes + " " + excludes + " " + excludeClassLoaders + " "
                + includeNoLocationClasses + " " + exactLines;
    }
}
