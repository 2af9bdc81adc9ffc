package io.github.classhook.maven;

import io.github.classhook.build.ClassFiles;
import io.github.classhook.build.CountedCode;
import io.github.classhook.build.Recorded;
import io.github.classhook.build.Tools;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugin.PluginParameterExpressionEvaluator;
import org.codehaus.plexus.component.configurator.expression.ExpressionEvaluationException;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/** Checks the coverage of the project against rules. */
public final class Check extends Goal {
    private File dataFile;
    private PlexusConfiguration rules;
    private boolean haltOnFailure;
    private List<String> includes;
    private List<String> excludes;
    private boolean carryOver;
    private String counters;
    private List<String> excludeAnnotations;
    private MojoExecution execution;

    @Override
    void run() throws IOException, MojoExecutionException, MojoFailureException {
        dataFile = own(dataFile);
        ClassFiles classFiles = new ClassFiles(includes, excludes);
        File classes = new File(project.getBuild().getOutputDirectory());
        if (!Recorded.isThere(dataFile)) {
            skipWithout(dataFile);
        } else if (!classFiles.areIn(classes)) {
            getLog().info("Skipping Classhook because there are no class files to check in " + classes + ".");
        } else {
            List<String> words = new ArrayList<>(Arrays.asList("check", dataFile.getPath(), "--name", project.getArtifactId(),
                    "--classes", classes.getPath(), "--rules", writeRules().toString()));
            words.addAll(classFiles.options());
            words.addAll(CountedCode.options(counters, excludeAnnotations));
            if (carryOver) {
                words.add("--carry-over");
            }
            check(command(words));
        }
    }

    private void check(Tools.Ended ended) throws MojoExecutionException, MojoFailureException {
        if (ended.code != Tools.SHORT) {
            expectSuccess(ended);
            getLog().info("All coverage checks have been met.");
            return;
        }
        ended.lines.forEach(getLog()::warn);
        String message = "Coverage checks have not been met. See log for details.";
        if (haltOnFailure) {
            throw new MojoFailureException(message);
        }
        getLog().warn(message);
    }

    /** Writes the rules unchanged to a file: the command parses them, and its messages can quote the file. */
    private Path writeRules() throws IOException, MojoExecutionException {
        StringBuilder text = new StringBuilder();
        write(rules, "", text);
        Path folder = new File(project.getBuild().getDirectory(), "classhook").toPath();
        Files.createDirectories(folder);
        Path file = folder.resolve("rules-" + execution.getExecutionId() + ".xml");
        return Files.write(file, text.toString().getBytes(StandardCharsets.UTF_8));
    }

    private void write(PlexusConfiguration element, String indent, StringBuilder text) throws MojoExecutionException {
        String value = element.getValue() == null ? "" : evaluated(element.getValue().trim());
        text.append(indent).append('<').append(element.getName()).append('>').append(escaped(value));
        if (element.getChildCount() > 0) {
            text.append('\n');
            for (PlexusConfiguration child : element.getChildren()) {
                write(child, indent + "  ", text);
            }
            text.append(indent);
        }
        text.append("</").append(element.getName()).append(">\n");
    }

    private String evaluated(String value) throws MojoExecutionException {
        try {
            return String.valueOf(new PluginParameterExpressionEvaluator(session, execution).evaluate(value));
        } catch (ExpressionEvaluationException error) {
            throw new MojoExecutionException("<rules>: " + error.getMessage(), error);
        }
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
