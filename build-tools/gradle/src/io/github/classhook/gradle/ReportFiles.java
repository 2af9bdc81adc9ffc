package io.github.classhook.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.inject.Inject;
import org.gradle.api.Action;
import org.gradle.api.Project;

/** The reports of a task: a folder for HTML, a file for each other format. */
public class ReportFiles {
    private final ReportFile html;
    private final ReportFile xml;
    private final ReportFile csv;
    private final ReportFile lcov;
    private final ReportFile cobertura;
    private final ReportFile sonar;
    private final ReportFile json;
    private final ReportFile exec;

    @Inject
    public ReportFiles(Project project) {
        html = report(project, "html");
        xml = report(project, "xml");
        csv = report(project, "csv");
        lcov = report(project, "lcov");
        cobertura = report(project, "cobertura");
        sonar = report(project, "sonar");
        json = report(project, "json");
        exec = report(project, "exec");
        html.setEnabled(true);
    }

    private static ReportFile report(Project project, String format) {
        return project.getObjects().newInstance(ReportFile.class, format);
    }

    void setDefaults(File folder, String name) {
        html.setDestination(new File(folder, "html"));
        xml.setDestination(new File(folder, name + ".xml"));
        csv.setDestination(new File(folder, name + ".csv"));
        lcov.setDestination(new File(folder, "lcov.info"));
        cobertura.setDestination(new File(folder, "cobertura.xml"));
        sonar.setDestination(new File(folder, "sonar.xml"));
        json.setDestination(new File(folder, name + ".json"));
        exec.setDestination(new File(folder, name + ".exec"));
    }

    private List<ReportFile> all() {
        return Arrays.asList(html, xml, csv, lcov, cobertura, sonar, json, exec);
    }

    List<String> options() {
        List<String> options = new ArrayList<>();
        all().stream().filter(ReportFile::isEnabled).forEach(report -> options.addAll(report.options()));
        return options;
    }

    public ReportFile getHtml() {
        return html;
    }

    public void html(Action<? super ReportFile> configure) {
        configure.execute(html);
    }

    public ReportFile getXml() {
        return xml;
    }

    public void xml(Action<? super ReportFile> configure) {
        configure.execute(xml);
    }

    public ReportFile getCsv() {
        return csv;
    }

    public void csv(Action<? super ReportFile> configure) {
        configure.execute(csv);
    }

    public ReportFile getLcov() {
        return lcov;
    }

    public void lcov(Action<? super ReportFile> configure) {
        configure.execute(lcov);
    }

    public ReportFile getCobertura() {
        return cobertura;
    }

    public void cobertura(Action<? super ReportFile> configure) {
        configure.execute(cobertura);
    }

    public ReportFile getSonar() {
        return sonar;
    }

    public void sonar(Action<? super ReportFile> configure) {
        configure.execute(sonar);
    }

    public ReportFile getJson() {
        return json;
    }

    public void json(Action<? super ReportFile> configure) {
        configure.execute(json);
    }

    public ReportFile getExec() {
        return exec;
    }

    public void exec(Action<? super ReportFile> configure) {
        configure.execute(exec);
    }
}
