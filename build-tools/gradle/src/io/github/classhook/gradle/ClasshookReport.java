package io.github.classhook.gradle;

import java.io.IOException;
import java.util.List;
import org.gradle.api.Action;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.TaskAction;

/** Writes coverage reports. */
public class ClasshookReport extends CoverageTask {
    private boolean perTest;
    private final ReportFiles reports = getProject().getObjects().newInstance(ReportFiles.class, getProject());

    @Internal
    public ReportFiles getReports() {
        return reports;
    }

    public void reports(Action<? super ReportFiles> configure) {
        configure.execute(reports);
    }

    /** Names the tests that executed each line, in HTML, LCOV and JSON. */
    @Internal
    public boolean isPerTest() {
        return perTest;
    }

    public void setPerTest(boolean perTest) {
        this.perTest = perTest;
    }

    @TaskAction
    public void generate() throws IOException {
        List<String> words = words("report");
        if (words != null) {
            words.addAll(reports.options());
            if (perTest) {
                words.add("--per-test");
            }
            run(words);
        }
    }
}
