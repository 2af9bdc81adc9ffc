package io.github.classhook.maven;

import io.github.classhook.build.Recorded;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.maven.plugin.MojoExecutionException;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/** Merges recordings into one file. */
public final class Merge extends Goal {
    private PlexusConfiguration fileSets;
    private File destFile;

    @Override
    void run() throws IOException, MojoExecutionException {
        destFile = own(destFile);
        Set<String> recorded = new TreeSet<>();
        for (PlexusConfiguration fileSet : fileSets.getChildren()) {
            String directory = fileSet.getChild("directory").getValue("");
            if (directory.isEmpty()) {
                throw new MojoExecutionException("<fileSets>: expected a <directory> in each <fileSet>");
            }
            File base = new File(directory);
            base = base.isAbsolute() ? base : new File(project.getBasedir(), directory);
            recorded.addAll(Recorded.below(base, texts(fileSet.getChild("includes")), texts(fileSet.getChild("excludes"))));
        }
        // If destFile is a folder with recordings of test JVMs, this goal writes the merged file there.
        File merged = destFile.isDirectory() ? new File(destFile, "merged.hook") : destFile;
        if (recorded.isEmpty()) {
            getLog().info("Skipping Classhook because no files match <fileSets>.");
            return;
        }
        List<String> words = new ArrayList<>(Arrays.asList("merge", "--to", merged.getPath()));
        words.addAll(recorded);
        expectSuccess(command(words));
    }

    private static List<String> texts(PlexusConfiguration list) {
        List<String> texts = new ArrayList<>();
        for (PlexusConfiguration element : list.getChildren()) {
            texts.add(element.getValue(""));
        }
        return texts;
    }
}
