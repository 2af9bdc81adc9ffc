package io.github.classhook.gradle;

import io.github.classhook.build.ClassFiles;
import io.github.classhook.build.CountedCode;
import io.github.classhook.build.Recorded;
import io.github.classhook.build.Tools;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.gradle.api.DefaultTask;
import org.gradle.api.GradleException;
import org.gradle.api.Task;
import org.gradle.api.file.FileCollection;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.SourceSet;

/** The inputs of a coverage task: recordings, classes and sources. */
public abstract class CoverageTask extends DefaultTask {
    private final File rootFolder = getProject().getRootDir();
    private final File buildFolder = BuildFolder.of(getProject());
    private final String title = getProject().getName();
    private ClasshookExtension extension = new ClasshookExtension();
    private String counters;
    private List<String> excludeAnnotations = new ArrayList<>();
    private FileCollection executionData = getProject().files();
    private FileCollection sourceDirectories = getProject().files();
    private FileCollection classDirectories = getProject().files();

    void setExtension(ClasshookExtension extension) {
        this.extension = extension;
    }

    /** The code to count: `jacoco`, or `source`, which leaves out more compiler-generated code; null as `jacoco`. */
    @Internal
    public String getCounters() {
        return counters;
    }

    public void setCounters(String counters) {
        this.counters = counters;
    }

    /** Annotations of the classes and methods to leave out, with or without package, with wildcards. */
    @Internal
    public List<String> getExcludeAnnotations() {
        return excludeAnnotations;
    }

    public void setExcludeAnnotations(List<String> excludeAnnotations) {
        this.excludeAnnotations = excludeAnnotations;
    }

    @Internal
    public FileCollection getExecutionData() {
        return executionData;
    }

    public void setExecutionData(FileCollection executionData) {
        this.executionData = executionData;
    }

    @Internal
    public FileCollection getSourceDirectories() {
        return sourceDirectories;
    }

    public void setSourceDirectories(FileCollection sourceDirectories) {
        this.sourceDirectories = sourceDirectories;
    }

    @Internal
    public FileCollection getClassDirectories() {
        return classDirectories;
    }

    public void setClassDirectories(FileCollection classDirectories) {
        this.classDirectories = classDirectories;
    }

    /** Adds files and folders with recordings, including JaCoCo's. */
    public void executionData(Object... files) {
        for (Object each : files) {
            if (each instanceof Task) {
                of((Task) each);
            } else {
                executionData = executionData.plus(getProject().files(each));
            }
        }
    }

    private void of(Task task) {
        Object settings = task.getExtensions().findByName(ClasshookPlugin.NAME);
        if (!(settings instanceof ClasshookTaskExtension)) {
            throw new GradleException("the task " + task.getPath() + " starts no JVM that Classhook can measure");
        }
        ClasshookTaskExtension measured = (ClasshookTaskExtension) settings;
        executionData = executionData.plus(getProject().files((Callable<File>) measured::getDestinationFile));
        mustRunAfter(task);
    }

    /** Adds classes and sources of source sets, also of other projects. */
    public void sourceSets(SourceSet... sourceSets) {
        for (SourceSet each : sourceSets) {
            classDirectories = classDirectories.plus(each.getOutput().getClassesDirs());
            sourceDirectories = sourceDirectories.plus(
                    getProject().files((Callable<Object>) () -> each.getAllJava().getSrcDirs()));
        }
    }

    /** The common arguments of all commands; null without recordings. */
    List<String> words(String command) throws IOException {
        List<String> words = new ArrayList<>(Arrays.asList(command, "--name", title));
        int before = words.size();
        for (File file : executionData.getFiles()) {
            if (Recorded.isThere(file)) {
                words.add(file.getPath());
            }
        }
        if (words.size() == before) {
            getLogger().lifecycle("Skipping Classhook because nothing was recorded in " + executionData.getFiles() + ".");
            return null;
        }
        int recorded = words.size();
        ClassFiles all = new ClassFiles(null, null);
        for (File place : classDirectories.getFiles()) {
            if (place.isFile() || all.areIn(place)) {
                words.addAll(Arrays.asList("--classes", place.getPath()));
            }
        }
        if (words.size() == recorded) {
            getLogger().lifecycle("Skipping Classhook because there are no class files in " + classDirectories.getFiles() + ".");
            return null;
        }
        sourceDirectories.getFiles().stream().filter(File::exists)
                .forEach(folder -> words.addAll(Arrays.asList("--sources", folder.getPath())));
        words.addAll(CountedCode.options(counters, excludeAnnotations));
        return words;
    }

    /** Runs the command in the root folder of the build; reports name sources relative to it. */
    Tools.Ended run(List<String> words) throws IOException {
        Tools.Ended ended = Tools.find(extension.getHome(), buildFolder).run(rootFolder, words);
        if (ended.code != 0) {
            ended.lines.forEach(getLogger()::error);
        } else {
            ended.lines.forEach(getLogger()::lifecycle);
        }
        if (ended.code != 0 && ended.code != Tools.SHORT) {
            String what = ended.code == Tools.PARTIAL ? " is incomplete, see above" : " failed with " + ended.code + ", see above";
            throw new GradleException("classhook " + ended.name + what);
        }
        return ended;
    }

    /** Not named `file`, which is the project's method in build scripts. */
    File inBuildFolder(String path) {
        return new File(buildFolder, path);
    }
}
