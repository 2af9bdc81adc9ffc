package io.github.classhook.maven;

import io.github.classhook.build.ClassFiles;
import io.github.classhook.build.Lists;
import io.github.classhook.build.Recorded;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.maven.artifact.versioning.InvalidVersionSpecificationException;
import org.apache.maven.artifact.versioning.DefaultArtifactVersion;
import org.apache.maven.artifact.versioning.VersionRange;
import org.apache.maven.model.Dependency;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.project.MavenProject;

/** Reports on the project's dependencies in this build, as modules of one report. */
public final class ReportAggregate extends Reporting {
    private static final List<String> CODE = Arrays.asList("compile", "runtime", "provided");
    private static final List<String> CODE_AND_TESTS = Arrays.asList("compile", "runtime", "provided", "test");

    private List<String> dataFileIncludes;
    private List<String> dataFileExcludes;
    private boolean includeCurrentProject;
    private List<MavenProject> reactorProjects;

    @Override
    boolean canReport() throws IOException {
        return !recorded().isEmpty() && !reported().isEmpty();
    }

    @Override
    String subject() {
        return " of all modules";
    }

    @Override
    void run() throws IOException, MojoExecutionException {
        ClassFiles classFiles = classFiles();
        List<String> modules = new ArrayList<>();
        for (MavenProject module : reported()) {
            addModule(modules, module);
        }
        Set<String> recorded = recorded();
        if (recorded.isEmpty()) {
            skipWithout("the modules");
        } else if (modules.isEmpty()) {
            getLog().info("Skipping Classhook because there are no class files to report in the modules.");
        } else {
            report(recorded, modules, classFiles);
        }
    }

    /** The modules with class files to report. */
    private List<MavenProject> reported() throws IOException {
        List<MavenProject> found = new ArrayList<>();
        for (MavenProject module : withCurrent(dependencies(CODE))) {
            if (classFiles().areIn(new File(module.getBuild().getOutputDirectory()))) {
                found.add(module);
            }
        }
        return found;
    }

    private static void addModule(List<String> words, MavenProject module) throws MojoExecutionException {
        String classes = module.getBuild().getOutputDirectory();
        List<String> sources = sources(module);
        for (String root : sources.isEmpty() ? Collections.singletonList("") : sources) {
            if (classes.indexOf(',') >= 0) {
                throw new MojoExecutionException("`" + classes + "` contains a comma, which reports of modules do not support");
            }
            String place = root.isEmpty() ? classes : classes + "," + root;
            words.addAll(Arrays.asList("--module", module.getArtifactId() + "=" + place));
        }
    }

    private Set<String> recorded() throws IOException {
        List<String> defaults = Collections.singletonList("target/*.exec");
        List<String> patterns = dataFileIncludes == null ? defaults : dataFileIncludes;
        Set<String> all = new TreeSet<>();
        Set<MavenProject> modules = new LinkedHashSet<>(dependencies(CODE_AND_TESTS));
        modules.add(project);
        for (MavenProject module : modules) {
            all.addAll(Recorded.below(module.getBasedir(), patterns, Lists.orEmpty(dataFileExcludes)));
        }
        return all;
    }

    private List<MavenProject> withCurrent(List<MavenProject> modules) {
        if (includeCurrentProject) {
            modules.add(project);
        }
        return modules;
    }

    private List<MavenProject> dependencies(List<String> scopes) {
        List<MavenProject> found = new ArrayList<>();
        for (Dependency dependency : project.getDependencies()) {
            if (scopes.contains(dependency.getScope())) {
                reactorProjects.stream().filter(module -> isMeant(dependency, module)).findFirst().ifPresent(found::add);
            }
        }
        return found;
    }

    private static boolean isMeant(Dependency dependency, MavenProject module) {
        boolean isNamed = module.getGroupId().equals(dependency.getGroupId())
                && module.getArtifactId().equals(dependency.getArtifactId());
        if (!isNamed || module.getVersion().equals(dependency.getVersion())) {
            return isNamed;
        }
        try {
            VersionRange range = VersionRange.createFromVersionSpec(dependency.getVersion());
            return range.hasRestrictions() && range.containsVersion(new DefaultArtifactVersion(module.getVersion()));
        } catch (InvalidVersionSpecificationException wrong) {
            return false;
        }
    }
}
