package io.github.classhook.gradle;

import io.github.classhook.build.Tools;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import org.gradle.api.Action;
import org.gradle.api.GradleException;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.TaskAction;

/** Fails if the coverage violates the rules. */
public class ClasshookCoverageVerification extends CoverageTask {
    private final ViolationRules violationRules = getProject().getObjects().newInstance(ViolationRules.class, getProject());

    @Internal
    public ViolationRules getViolationRules() {
        return violationRules;
    }

    public void violationRules(Action<? super ViolationRules> configure) {
        configure.execute(violationRules);
    }

    @TaskAction
    public void check() throws IOException {
        List<String> words = words("check");
        if (words == null) {
            return;
        }
        if (violationRules.isEmpty()) {
            getLogger().lifecycle("Skipping Classhook because there are no violationRules.");
            return;
        }
        File rules = inBuildFolder("tmp/" + getName() + "/rules.xml");
        Files.createDirectories(rules.getParentFile().toPath());
        Files.write(rules.toPath(), violationRules.xml().getBytes(StandardCharsets.UTF_8));
        words.addAll(Arrays.asList("--rules", rules.getPath()));
        if (run(words).code == Tools.SHORT) {
            String message = "Coverage checks have not been met. See log for details.";
            if (violationRules.isFailOnViolation()) {
                throw new GradleException(message);
            }
            getLogger().warn(message);
        }
    }
}
