package io.github.classhook.maven;

import io.github.classhook.build.ClassFiles;
import io.github.classhook.build.Tools;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;

/** Instruments the classes of the project statically, for test JVMs without an agent. */
public final class Instrument extends Goal {
    private List<String> includes;
    private List<String> excludes;

    @Override
    void run() throws IOException, MojoExecutionException {
        ClassFiles classFiles = new ClassFiles(includes, excludes);
        Offline offline = new Offline(project);
        if (!classFiles.areIn(offline.classes())) {
            getLog().info("Skipping Classhook because there are no class files to instrument in " + offline.classes() + ".");
            return;
        }
        offline.removeWritten();
        List<String> words = new ArrayList<>(Arrays.asList("instrument", offline.classes().getPath(),
                "-o", offline.written().toString(), "--embed", "--select", "!classhook.runtime.**"));
        words.addAll(classFiles.options());
        Tools.Ended ended = command(words);
        if (ended.code == Tools.PARTIAL) { // the output is whole, but for methods without probes
            ended.lines.forEach(getLog()::warn);
        } else {
            expectSuccess(ended);
        }
        offline.use();
    }
}
