package io.github.classhook.maven;

import io.github.classhook.build.ClassFiles;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.project.MavenProject;

/** What reports have in common. */
abstract class Reporting extends Goal {
    private File outputDirectory;
    private List<String> formats;
    private List<String> includes;
    private List<String> excludes;
    private String title;
    private boolean carryOver;
    private String footer;
    private String sourceEncoding;
    private String outputEncoding;

    /** The formats, and the file of each. */
    private enum Format {
        HTML("."), XML("jacoco.xml"), CSV("jacoco.csv"), LCOV("lcov.info"), COBERTURA("cobertura.xml"),
        SONAR("sonar.xml"), JSON("coverage.json"), BADGE("coverage.svg"), MARKDOWN("coverage.md"), EXEC("merged.exec");

        private final String file;

        Format(String file) {
            this.file = file;
        }

        static Format of(String name) throws MojoExecutionException {
            for (Format format : values()) {
                if (format.name().equalsIgnoreCase(name.trim())) {
                    return format;
                }
            }
            throw new MojoExecutionException("<format>" + name + "</format>: expected one of " + Arrays.asList(values()));
        }
    }

    ClassFiles classFiles() {
        return new ClassFiles(includes, excludes);
    }

    /** Reports on what was recorded, with options that say where classes and sources are. */
    void report(Collection<String> recorded, List<String> places, ClassFiles classFiles)
            throws IOException, MojoExecutionException {
        outputDirectory = own(outputDirectory);
        warnIgnored("footer", footer);
        warnUnlessUtf8("sourceEncoding", sourceEncoding);
        warnUnlessUtf8("outputEncoding", outputEncoding);
        List<String> words = new ArrayList<>(Arrays.asList("report", "--name", title));
        words.addAll(recorded);
        words.addAll(places);
        words.addAll(classFiles.options());
        if (carryOver) {
            words.add("--carry-over");
        }
        for (String name : formats) {
            Format format = Format.of(name);
            String file = format == Format.HTML ? outputDirectory.getPath() : new File(outputDirectory, format.file).getPath();
            words.addAll(Arrays.asList("--" + format.name().toLowerCase(Locale.ROOT), file));
        }
        expectSuccess(command(words));
    }

    private void warnUnlessUtf8(String parameter, String encoding) {
        if (!encoding.equalsIgnoreCase("UTF-8")) {
            warnIgnored(parameter, encoding);
        }
    }

    static List<String> sources(MavenProject project) {
        Stream<String> roots = project.getCompileSourceRoots().stream();
        return roots.filter(root -> new File(root).isDirectory()).collect(Collectors.toList());
    }
}
