package io.github.classhook.maven;

import io.github.classhook.build.ClassFiles;
import io.github.classhook.build.Recorded;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;

/** Reports on the classes of the project. */
public final class Report extends Reporting {
    private File dataFile;

    @Override
    boolean canReport() throws IOException {
        File classes = new File(project.getBuild().getOutputDirectory());
        return Recorded.isThere(own(dataFile)) && classFiles().areIn(classes);
    }

    @Override
    String subject() {
        return dataFile.getName().contains("-it.") ? " of integration tests" : "";
    }

    @Override
    void run() throws IOException, MojoExecutionException {
        dataFile = own(dataFile);
        ClassFiles classFiles = classFiles();
        File classes = new File(project.getBuild().getOutputDirectory());
        if (!Recorded.isThere(dataFile)) {
            skipWithout(dataFile);
        } else if (!classFiles.areIn(classes)) {
            getLog().info("Skipping Classhook because there are no class files to report in " + classes + ".");
        } else {
            List<String> words = new ArrayList<>(Arrays.asList("--classes", classes.getPath()));
            for (String root : sources(project)) {
                words.addAll(Arrays.asList("--sources", root));
            }
            report(Arrays.asList(dataFile.getPath()), words, classFiles);
        }
    }
}
