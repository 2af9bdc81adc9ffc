package io.github.classhook.maven;

import java.io.IOException;

/** Restores the classes that the goal `instrument` changed. */
public final class Restore extends Goal {
    @Override
    void run() throws IOException {
        Offline offline = new Offline(project);
        if (!offline.isThere()) {
            getLog().info("Skipping Classhook because there are no instrumented classes to restore.");
            return;
        }
        int restored = offline.restore();
        getLog().info("Restored " + restored + (restored == 1 ? " class" : " classes") + " in " + offline.classes() + ".");
    }
}
