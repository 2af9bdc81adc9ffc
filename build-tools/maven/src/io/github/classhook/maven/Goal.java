package io.github.classhook.maven;

import io.github.classhook.build.Tools;
import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Plugin;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.project.MavenProject;

/** The base of all goals. Maven sets the fields, which goals.toml describes. */
abstract class Goal extends AbstractMojo {
    /** Prefix of the properties with the agent's argument, by the name of the property that contains the argument. */
    static final String AGENT = "classhook.agent.";

    /** JaCoCo's plugin, which a build may use as well. */
    private static final String JACOCO = "org.jacoco:jacoco-maven-plugin";

    MavenProject project;
    MavenSession session;
    File classhookHome;
    Boolean classhookSkip;
    boolean skip;

    @Override
    public final void execute() throws MojoExecutionException, MojoFailureException {
        if (isSkipped()) {
            String property = classhookSkip == null ? "jacoco.skip" : "classhook.skip";
            getLog().info("Skipping Classhook because property " + property + " is set.");
            skipped();
            return;
        }
        try {
            run();
        } catch (IOException error) {
            throw new MojoExecutionException(error.getMessage(), error);
        }
    }

    /** If JaCoCo's plugin is present, the property jacoco.skip applies to that plugin only. */
    boolean isSkipped() {
        if (classhookSkip != null) {
            return classhookSkip;
        }
        return skip && !(isBesideJacoco() && isJacocoSkipped());
    }

    private boolean isJacocoSkipped() {
        String ofProject = project.getProperties().getProperty("jacoco.skip");
        return Boolean.parseBoolean(session.getUserProperties().getProperty("jacoco.skip", ofProject));
    }

    private boolean isBesideJacoco() {
        return project != null && project.getPlugin(JACOCO) != null;
    }

    /** Replaces a file or folder of JaCoCo's name by our own, if JaCoCo's plugin is present and writes there. */
    File own(File file) {
        String name = file.getName();
        boolean isTheirs = name.equals("jacoco") || name.startsWith("jacoco.") || name.startsWith("jacoco-");
        if (!isTheirs || !isBesideJacoco()) {
            return file;
        }
        return new File(file.getParentFile(), "classhook" + name.substring("jacoco".length()));
    }

    abstract void run() throws IOException, MojoExecutionException, MojoFailureException;

    void skipped() {
    }

    Tools tools() throws IOException {
        return Tools.find(classhookHome, new File(project.getBuild().getDirectory()));
    }

    /** Runs the command in the folder where the build was started; reports name sources relative to it. */
    Tools.Ended command(List<String> words) throws IOException {
        getLog().debug("classhook " + String.join(" ", words));
        return tools().run(new File(session.getExecutionRootDirectory()), words);
    }

    /** Fails the build with the command's output if the command failed or its answer is incomplete. */
    void expectSuccess(Tools.Ended ended) throws MojoExecutionException {
        if (ended.code == 0) {
            tell(ended.lines);
            return;
        }
        ended.lines.forEach(getLog()::error);
        String cause = ended.lines.stream().filter(line -> line.startsWith("error[")).findFirst().orElse("see above");
        String what = ended.code == Tools.PARTIAL ? "is incomplete: " : "failed with " + ended.code + ": ";
        throw new MojoExecutionException("classhook " + ended.name + " " + what + cause);
    }

    /** Reports that nothing was recorded, and the cause if no JVM of this build had the agent. */
    void skipWithout(Object recorded) {
        getLog().info("Skipping Classhook because nothing was recorded in " + recorded + "." + whyNothing());
    }

    private String whyNothing() {
        List<String> properties = project.getProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith(AGENT)).map(name -> name.substring(AGENT.length())).collect(Collectors.toList());
        if (properties.isEmpty()) {
            return " The goal prepare-agent did not run for this project.";
        }
        for (String tests : Arrays.asList("surefire", "failsafe")) {
            Plugin plugin = project.getPlugin("org.apache.maven.plugins:maven-" + tests + "-plugin");
            String settings = plugin == null ? "" : String.valueOf(plugin.getConfiguration());
            if (settings.contains("<argLine>") && properties.stream().noneMatch(name -> settings.contains("{" + name + "}"))) {
                return " The <argLine> of maven-" + tests + "-plugin excludes the agent: it must contain @{" + properties.get(0) + "}.";
            }
        }
        return "";
    }

    /** Logs a warning with its indented continuation lines as a warning. */
    private void tell(List<String> lines) {
        boolean isWarning = false;
        for (String line : lines) {
            isWarning = line.startsWith("warning[") || isWarning && line.startsWith(" ");
            if (isWarning) {
                getLog().warn(line);
            } else {
                getLog().info(line);
            }
        }
    }

    void warnIgnored(String parameter, Object value) {
        if (value != null) {
            getLog().warn("<" + parameter + "> has no effect in Classhook.");
        }
    }
}
