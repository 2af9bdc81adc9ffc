package io.github.classhook.gradle;

import java.io.File;
import java.util.Arrays;
import java.util.List;
import javax.inject.Inject;
import org.gradle.api.GradleException;

/** One report: whether it is written, and where to. */
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

    /** The same as enabled, by the name that Gradle 7 and later have for it. */
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
