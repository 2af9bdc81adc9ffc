package io.github.classhook.gradle;

import java.io.File;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.gradle.api.Plugin;
import org.gradle.api.Project;
import org.gradle.api.Task;
import org.gradle.api.tasks.JavaExec;
import org.gradle.api.tasks.SourceSet;
import org.gradle.api.tasks.SourceSetContainer;
import org.gradle.api.tasks.testing.Test;
import org.gradle.process.JavaForkOptions;

/** Adds the agent to the JVMs of tests and programs, and adds the tasks that report their coverage. */
public final class ClasshookPlugin implements Plugin<Project> {
    static final String NAME = "classhook";
    private static final String GROUP = "verification";

    @Override
    public void apply(Project project) {
        ClasshookExtension extension = project.getExtensions().create(NAME, ClasshookExtension.class);
        project.getTasks().withType(Test.class).all(task -> measure(project, extension, task));
        project.getTasks().withType(JavaExec.class).all(task -> measure(project, extension, task));
        project.getPluginManager().withPlugin("java", java -> addTasks(project, extension));
    }

    private static <T extends Task & JavaForkOptions> void measure(Project project, ClasshookExtension extension, T task) {
        ClasshookTaskExtension settings = task.getExtensions().create(NAME, ClasshookTaskExtension.class);
        settings.setDestinationFile(new File(BuildFolder.of(project), "classhook/" + task.getName() + ".exec"));
        Measuring measuring = new Measuring(extension, settings, BuildFolder.of(project));
        task.doFirst(measuring);
        task.getInputs().property(NAME, (Callable<String>) settings::toString);
        task.getOutputs().dir((Callable<File>) settings::getDestinationFile);
    }

    /** Adds a report and a verification for each test task, and a report of all test tasks. */
    private static void addTasks(Project project, ClasshookExtension extension) {
        SourceSet main = ((SourceSetContainer) project.property("sourceSets")).getByName("main");
        ClasshookReport all = addReport(project, "classhookReport", "all");
        all.setDescription("Generates code coverage report for all test tasks together.");
        bind(all, extension, main);
        project.getTasks().withType(Test.class).all(test -> {
            addTasksOf(project, extension, main, test);
            all.executionData(test);
        });
    }

    /** Adds tasks with the names and bindings of Gradle's JaCoCo plugin. */
    private static void addTasksOf(Project project, ClasshookExtension extension, SourceSet main, Test test) {
        String name = NAME + test.getName().substring(0, 1).toUpperCase(Locale.ROOT) + test.getName().substring(1);
        ClasshookReport report = addReport(project, name + "Report", test.getName());
        report.setDescription("Generates code coverage report for the " + test.getName() + " task.");
        ClasshookCoverageVerification verification =
                project.getTasks().create(name + "CoverageVerification", ClasshookCoverageVerification.class);
        verification.setDescription(
                "Verifies code coverage metrics based on specified rules for the " + test.getName() + " task.");
        for (CoverageTask task : new CoverageTask[] {report, verification}) {
            bind(task, extension, main);
            task.executionData(test);
        }
    }

    private static ClasshookReport addReport(Project project, String name, String folder) {
        ClasshookReport report = project.getTasks().create(name, ClasshookReport.class);
        report.getReports().setDefaults(new File(BuildFolder.of(project), "reports/classhook/" + folder), name);
        return report;
    }

    private static void bind(CoverageTask task, ClasshookExtension extension, SourceSet main) {
        task.setGroup(GROUP);
        task.setExtension(extension);
        task.sourceSets(main);
    }
}
