package io.github.classhook.gradle;

import java.io.File;

/** Settings of a project. */
public class ClasshookExtension {
    private File home;

    /** A folder with command and library to use instead of those of the plugin, or null. */
    public File getHome() {
        return home;
    }

    public void setHome(File home) {
        this.home = home;
    }
}
