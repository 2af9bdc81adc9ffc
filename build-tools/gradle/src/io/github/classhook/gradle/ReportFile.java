package io.github.classhook.gradle;

import java.io.File;
import java.util.Arrays;
import java.util.List;
import javax.inject.Inject;
import org.gradle.api.GradleException;

/** The settings of one report: enabled, and its path. */
public class ReportFile {
    private final String format;
    private boolean enabled;
    private File destination;

    @Inject
    public ReportFile(String format) {
        this.format = format;
    }

    List<String> options() {
        if (destination == null) {
            throw new GradleException("the report " + format + " has no destination");
        }
        return Arrays.asList("--" + format, destination.getPath());
    }

    public boolean isEnabled() {
        return enabled;
    }

    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    /** Alias of {@code isEnabled}: the name in Gradle 7 and later. */
    public boolean isRequired() {
        return enabled;
    }

    public void setRequired(boolean required) {
        this.enabled = required;
    }

    public File getDestination() {
        return destination;
    }

    public void setDestination(File destination) {
        this.destination = destination;
    }
}
