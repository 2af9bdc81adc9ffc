package io.github.classhook.gradle;

import java.util.ArrayList;
import java.util.List;
import javax.inject.Inject;
import org.gradle.api.Action;
import org.gradle.api.Project;

/** The required coverage. */
public class ViolationRules {
    private final Project project;
    private final List<ViolationRule> rules = new ArrayList<>();
    private boolean failOnViolation = true;

    @Inject
    public ViolationRules(Project project) {
        this.project = project;
    }

    public boolean isFailOnViolation() {
        return failOnViolation;
    }

    public void setFailOnViolation(boolean failOnViolation) {
        this.failOnViolation = failOnViolation;
    }

    public void rule(Action<? super ViolationRule> configure) {
        ViolationRule rule = project.getObjects().newInstance(ViolationRule.class, project);
        configure.execute(rule);
        rules.add(rule);
    }

    boolean isEmpty() {
        return rules.stream().noneMatch(ViolationRule::isEnabled);
    }

    /** The rules in JaCoCo's XML form, which the command reads. */
    String xml() {
        StringBuilder text = new StringBuilder("<rules>\n");
        rules.stream().filter(ViolationRule::isEnabled).forEach(rule -> rule.write(text));
        return text.append("</rules>\n").toString();
    }

    /** Writes an element with text, unless the text is null. */
    static void write(StringBuilder text, String name, Object value) {
        if (value != null) {
            String escaped = value.toString().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
            text.append('<').append(name).append('>').append(escaped).append("</").append(name).append(">\n");
        }
    }
}
