package io.github.classhook.build;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Converts settings about the code that reports and rules count to options of the command. */
public final class CountedCode {
    private CountedCode() {
    }

    /** The options; null settings have the command's defaults. */
    public static List<String> options(String counters, List<String> excludeAnnotations) {
        List<String> options = new ArrayList<>();
        if (counters != null) {
            options.addAll(Arrays.asList("--counters", counters));
        }
        for (String annotation : Lists.orEmpty(excludeAnnotations)) {
            options.addAll(Arrays.asList("--exclude-annotation", annotation));
        }
        return options;
    }
}
