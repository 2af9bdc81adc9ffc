package io.github.classhook.build;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The reported class files of a folder: JaCoCo's patterns over their paths, and the equivalent selectors. */
public final class ClassFiles {
    private static final String SUFFIX = ".class";

    private final List<String> includes;
    private final List<String> excludes;

    public ClassFiles(List<String> includes, List<String> excludes) {
        this.includes = single(includes);
        this.excludes = single(excludes);
    }

    /** JaCoCo joins the patterns with commas, so one pattern may contain several. */
    private static List<String> single(List<String> patterns) {
        return Lists.orEmpty(patterns).stream().flatMap(list -> Arrays.stream(list.split(",")))
                .map(PathPatterns::normal).filter(pattern -> !pattern.isEmpty()).collect(Collectors.toList());
    }

    public boolean areIn(File folder) throws IOException {
        if (!folder.isDirectory()) {
            return false;
        }
        Path root = folder.toPath();
        PathPatterns patterns = new PathPatterns(includes, excludes);
        try (Stream<Path> files = Files.walk(root)) {
            return files.map(file -> root.relativize(file).toString())
                    .anyMatch(path -> path.endsWith(SUFFIX) && patterns.match(path));
        }
    }

    public List<String> options() {
        List<String> all = new ArrayList<>();
        includes.forEach(pattern -> selectors(pattern).forEach(glob -> add(all, glob)));
        excludes.forEach(pattern -> selectors(pattern).forEach(glob -> add(all, "!" + glob)));
        return all;
    }

    private static void add(List<String> options, String selector) {
        options.add("--select");
        options.add(selector);
    }

    /** Selectors over class names; a pattern that matches no class file has none. */
    private static List<String> selectors(String pattern) {
        String name = pattern;
        if (pattern.endsWith(SUFFIX) || pattern.endsWith(".*")) {
            name = pattern.substring(0, pattern.lastIndexOf('.'));
        } else if (!pattern.endsWith("*")) {
            return new ArrayList<>();
        }
        List<String> all = new ArrayList<>();
        all.add("");
        for (String rest = name; !rest.isEmpty();) {
            boolean isFolders = rest.startsWith("**/");
            int next = isFolders ? 3 : 1;
            // Zero folders also match any number of folders.
            List<String> texts = isFolders ? Arrays.asList("", "**.") : Arrays.asList(rest.substring(0, 1).replace('/', '.'));
            all = all.stream().flatMap(before -> texts.stream().map(text -> before + text)).collect(Collectors.toList());
            rest = rest.substring(next);
        }
        return all;
    }
}
