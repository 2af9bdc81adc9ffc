package io.github.classhook.maven;

import io.github.classhook.build.ClassFiles;
import io.github.classhook.build.CountedCode;
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
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.project.MavenProject;
import org.apache.maven.reporting.MavenReport;
import org.apache.maven.reporting.MavenReportException;

/** Goals that write reports, which are also reports of Maven's site. */
abstract class Reporting extends Goal implements MavenReport {
    private File outputDirectory;
    private List<String> formats;
    private List<String> includes;
    private List<String> excludes;
    private String title;
    private boolean carryOver;
    private String counters;
    private List<String> excludeAnnotations;
    private boolean perTest;
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

    /** Checks whether there is anything to report. */
    abstract boolean canReport() throws IOException;

    /** The subject of the report, in the menu of the site. */
    abstract String subject();

    @Override
    public final boolean canGenerateReport() {
        if (isSkipped()) {
            return false;
        }
        try {
            return canReport();
        } catch (IOException error) {
            getLog().warn("Skipping Classhook: " + error.getMessage());
            return false;
        }
    }

    /** Writes the report for versions of Maven's site up to 3.12. */
    @Override
    @SuppressWarnings("deprecation")
    public final void generate(org.codehaus.doxia.sink.Sink sink, Locale locale) throws MavenReportException {
        generate();
    }

    /** Writes the report for later versions, whose interface has this method instead of the other. */
    public final void generate(org.apache.maven.doxia.sink.Sink sink, Locale locale) throws MavenReportException {
        generate();
    }

    private void generate() throws MavenReportException {
        try {
            execute();
        } catch (MojoExecutionException | MojoFailureException error) {
            throw new MavenReportException(error.getMessage(), error);
        }
    }

    @Override
    public final boolean isExternalReport() {
        return true;
    }

    @Override
    public final String getCategoryName() {
        return CATEGORY_PROJECT_REPORTS;
    }

    @Override
    public final String getName(Locale locale) {
        return "Coverage" + subject();
    }

    @Override
    public final String getDescription(Locale locale) {
        return "Code coverage" + subject() + ".";
    }

    @Override
    public final String getOutputName() {
        return own(outputDirectory).getName() + "/index";
    }

    @Override
    public final File getReportOutputDirectory() {
        return own(outputDirectory);
    }

    /** Receives the folder of the site; the report has a subfolder in it. */
    @Override
    public final void setReportOutputDirectory(File site) {
        String name = own(outputDirectory).getName();
        outputDirectory = site.getName().equals(name) ? site : new File(site, name);
    }

    ClassFiles classFiles() {
        return new ClassFiles(includes, excludes);
    }

    /** Reports on recordings; the options contain the paths of classes and sources. */
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
        words.addAll(CountedCode.options(counters, excludeAnnotations));
        if (carryOver) {
            words.add("--carry-over");
        }
        if (perTest) {
            words.add("--per-test");
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
