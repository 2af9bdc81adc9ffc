package io.github.classhook.gradle;

import java.io.File;
import org.gradle.api.GradleException;
import org.gradle.api.Project;
import org.gradle.api.file.Directory;
import org.gradle.api.file.ProjectLayout;
import org.gradle.api.provider.Provider;

/** The build folder of a project. */
final class BuildFolder {
    private BuildFolder() {
    }

    /** Calls the method by reflection, because its return type differs between Gradle versions. */
    static File of(Project project) {
        try {
            Object folder = ProjectLayout.class.getMethod("getBuildDirectory").invoke(project.getLayout());
            return ((Directory) ((Provider<?>) folder).get()).getAsFile();
        } catch (ReflectiveOperationException error) {
            throw new GradleException("this version of Gradle does not report its build folder", error);
        }
    }
}
