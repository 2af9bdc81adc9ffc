package io.github.classhook.build;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Converts JaCoCo's settings to the options of the agent that measures coverage. */
public final class AgentOptions {
    /** The classes of built-in loaders, on JDK 8 and later, and the agent's names of these loaders. */
    private static final String[][] BUILT_IN_LOADERS = {
        {"jdk.internal.loader.ClassLoaders$AppClassLoader", "app"},
        {"sun.misc.Launcher$AppClassLoader", "app"},
        {"jdk.internal.loader.ClassLoaders$PlatformClassLoader", "platform"},
        {"sun.misc.Launcher$ExtClassLoader", "platform"},
    };

    private final File snapshots;
    private final List<String> selectors = new ArrayList<>();
    private boolean exactLines;

    /** Options for snapshots in a folder, of all classes. */
    public AgentOptions(File snapshots) {
        this.snapshots = snapshots;
    }

    /** Selects the classes that JaCoCo's name wildcards include and do not exclude. */
    public AgentOptions classes(List<String> includes, List<String> excludes) throws IOException {
        selectors.addAll(selectors("", includes));
        selectors.addAll(selectors("!", excludes));
        return this;
    }

    /** Excludes the classes of the loaders whose classes have these names, with JaCoCo's wildcards. */
    public AgentOptions withoutLoaders(List<String> loaders) throws IOException {
        for (String name : names(loaders)) {
            for (String[] builtIn : BUILT_IN_LOADERS) {
                String selector = "!loader:" + builtIn[1];
                if (matches(name, builtIn[0]) && !selectors.contains(selector)) {
                    selectors.add(selector);
                }
            }
            selectors.add("!loader:" + value("exclClassLoaders", glob(name)));
        }
        return this;
    }

    /** Selects classes without a known source location, too. */
    public AgentOptions withoutLocation(boolean isIncluded) {
        if (isIncluded) {
            selectors.add("location:any");
        }
        return this;
    }

    /** Adds a probe to each line. */
    public AgentOptions exactLines(boolean isExact) {
        exactLines = isExact;
        return this;
    }

    /** The options as the agent reads them. */
    public String text() throws IOException {
        String select = selectors.isEmpty() ? "" : ",select=" + String.join(";", selectors);
        String lines = exactLines ? ",plugin=coverage-lines" : "";
        return "plugin=coverage,output=" + value("destFile", snapshots.getPath()) + select + lines;
    }

    /** Selectors for JaCoCo's wildcards over class names. */
    private static List<String> selectors(String sign, List<String> lists) throws IOException {
        List<String> all = new ArrayList<>();
        for (String name : names(lists)) {
            String glob = glob(name);
            if (!glob.equals("**")) {
                all.add(sign + value("includes and excludes", glob));
            }
        }
        return all;
    }

    /** The names of JaCoCo's lists, which colons separate. */
    private static List<String> names(List<String> lists) {
        List<String> names = new ArrayList<>();
        for (String list : Lists.orEmpty(lists)) {
            for (String name : list.split(":")) {
                if (!name.trim().isEmpty()) {
                    names.add(name.trim());
                }
            }
        }
        return names;
    }

    /** The agent's pattern for JaCoCo's wildcards over class names: `*` is any text. */
    private static String glob(String name) {
        return name.replace('/', '.').replaceAll("\\*+", "**");
    }

    private static boolean matches(String wildcards, String name) {
        String pattern = wildcards.chars()
                .mapToObj(letter -> letter == '*' ? ".*" : letter == '?' ? "." : Pattern.quote(String.valueOf((char) letter)))
                .collect(Collectors.joining());
        return Pattern.matches(pattern, name);
    }

    /**
     * Rejects characters at which the agent's option list or the argument splitting of test plugins would break a
     * value.
     */
    public static String value(String parameter, String value) throws IOException {
        String special = value.chars().filter(letter -> "\"'\\,;\n".indexOf(letter) >= 0)
                .mapToObj(letter -> String.valueOf((char) letter)).distinct().collect(Collectors.joining(" "));
        if (!special.isEmpty()) {
            throw new IOException(parameter + ": `" + value + "` holds " + special
                    + ", which cannot be passed to the agent");
        }
        return value;
    }
}
