package io.github.classhook.gradle;

import java.util.ArrayList;
import java.util.List;
import javax.inject.Inject;
import org.gradle.api.Action;
import org.gradle.api.Project;

/** A rule: limits of the total, or of each package, class, source file or method. */
public class ViolationRule {
    private final Project project;
    private final List<Limit> limits = new ArrayList<>();
    private boolean enabled = true;
    private String element = "BUNDLE";
    private List<String> includes = new ArrayList<>();
    private List<String> excludes = new ArrayList<>();

    @Inject
    public ViolationRule(Project project) {
        this.project = project;
    }

    public boolean isEnabled() {
        return enabled;
    }

    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    public String getElement() {
        return element;
    }

    public void setElement(String element) {
        this.element = element;
    }

    public List<String> getIncludes() {
        return includes;
    }

    public void setIncludes(List<String> includes) {
        this.includes = includes;
    }

    public List<String> getExcludes() {
        return excludes;
    }

    public void setExcludes(List<String> excludes) {
        this.excludes = excludes;
    }

    public void limit(Action<? super Limit> configure) {
        Limit limit = project.getObjects().newInstance(Limit.class);
        configure.execute(limit);
        limits.add(limit);
    }

    void write(StringBuilder text) {
        text.append("<rule>\n");
        ViolationRules.write(text, "element", element);
        list(text, "include", includes);
        list(text, "exclude", excludes);
        text.append("<limits>\n");
        limits.forEach(limit -> limit.write(text));
        text.append("</limits>\n</rule>\n");
    }

    private static void list(StringBuilder text, String name, List<String> patterns) {
        if (!patterns.isEmpty()) {
            text.append('<').append(name).append("s>\n");
            patterns.forEach(pattern -> ViolationRules.write(text, name, pattern));
            text.append("</").append(name).append("s>\n");
        }
    }
}
