package io.github.classhook.build;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Converts JaCoCo's settings to the options of the agent that measures coverage. */
public final class AgentOptions {
    private AgentOptions() {
    }

    /** Options for snapshots in a folder, of the classes that JaCoCo's name wildcards include and do not exclude. */
    public static String of(File snapshots, List<String> includes, List<String> excludes) throws IOException {
        List<String> selectors = new ArrayList<>();
        selectors.addAll(selectors("", includes));
        selectors.addAll(selectors("!", excludes));
        String select = selectors.isEmpty() ? "" : ",select=" + String.join(";", selectors);
        return "plugin=coverage,output=" + value("destFile", snapshots.getPath()) + select;
    }

    /** Selectors for JaCoCo's wildcards over class names: `*` is any text. */
    private static List<String> selectors(String sign, List<String> names) throws IOException {
        List<String> all = new ArrayList<>();
        for (String list : Lists.orEmpty(names)) {
            for (String name : list.split(":")) {
                String glob = name.trim().replace('/', '.').replaceAll("\\*+", "**");
                if (!glob.isEmpty() && !glob.equals("**")) {
                    all.add(sign + value("includes and excludes", glob));
                }
            }
        }
        return all;
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
