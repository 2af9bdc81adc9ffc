package io.github.classhook.build;

import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Ant's patterns over relative paths: `**` is any number of folders, `*` any text within one, `?` one letter. */
public final class PathPatterns {
    private final List<Pattern> includes;
    private final List<Pattern> excludes;

    public PathPatterns(List<String> includes, List<String> excludes) {
        this.includes = patterns(includes.isEmpty() ? Collections.singletonList("**") : includes);
        this.excludes = patterns(excludes);
    }

    public boolean match(String path) {
        return any(includes, path) && !any(excludes, path);
    }

    private static boolean any(List<Pattern> patterns, String path) {
        return patterns.stream().anyMatch(pattern -> pattern.matcher(path).matches());
    }

    private static List<Pattern> patterns(List<String> texts) {
        return texts.stream().map(PathPatterns::pattern).collect(Collectors.toList());
    }

    static Pattern pattern(String text) {
        String rest = normal(text);
        StringBuilder regex = new StringBuilder();
        for (int at = 0; at < rest.length(); at++) {
            if (rest.startsWith("**/", at)) {
                regex.append("(?:.*/)?");
                at += 2;
            } else if (rest.startsWith("/**", at) && at + 3 == rest.length()) {
                regex.append("(?:/.*)?");
                at += 2;
            } else if (rest.startsWith("**", at)) {
                regex.append(".*");
                at += 1;
            } else if (rest.charAt(at) == '*') {
                regex.append("[^/]*");
            } else if (rest.charAt(at) == '?') {
                regex.append("[^/]");
            } else {
                regex.append(Pattern.quote(rest.substring(at, at + 1)));
            }
        }
        return Pattern.compile(regex.toString());
    }

    /** As in Ant, a trailing slash stands for the whole content of the folder. */
    static String normal(String text) {
        String path = text.trim().replace('\\', '/');
        return path.endsWith("/") ? path + "**" : path;
    }
}
