package io.github.classhook.gradle;

import java.io.File;
import org.gradle.api.GradleException;
import org.gradle.api.Project;
import org.gradle.api.file.Directory;
import org.gradle.api.file.ProjectLayout;
import org.gradle.api.provider.Provider;

/** The folder of what a build makes of a project. */
final class BuildFolder {
    private BuildFolder() {
    }

    /** By its name, since the type of what it returns is not the same in all versions of Gradle. */
    static File of(Project project) {
        try {
            Object folder = ProjectLayout.class.getMethod("getBuildDirectory").invoke(project.getLayout());
            return ((Directory) ((Provider<?>) folder).get()).getAsFile();
        } catch (ReflectiveOperationException error) {
            throw new GradleException("this version of Gradle does not say where it builds", error);
        }
    }
}
