package io.github.classhook.gradle;

import java.io.File;

/** Settings of a project. */
public class ClasshookExtension {
    private File home;

    /** A folder with the command and the library to use instead of the plugin's, or null. */
    public File getHome() {
        return home;
    }

    public void setHome(File home) {
        this.home = home;
    }
}
