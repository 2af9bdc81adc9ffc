package io.github.classhook.build;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The options of the agent that measures coverage, of JaCoCo's settings. */
public final class AgentOptions {
    private AgentOptions() {
    }

    /** Snapshots into a folder, of the classes that JaCoCo's wildcards over names take and do not leave out. */
    public static String of(File snapshots, List<String> includes, List<String> excludes) throws IOException {
        List<String> selectors = new ArrayList<>();
        selectors.addAll(selectors("", includes));
        selectors.addAll(selectors("!", excludes));
        String select = selectors.isEmpty() ? "" : ",select=" + String.join(";", selectors);
        return "plugin=coverage,output=" + value("destFile", snapshots.getPath()) + select;
    }

    /** JaCoCo's wildcards over names of classes: `*` is any text. */
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

    /** Neither the agent's list of options nor the splitting of arguments by test plugins must take a value apart. */
    public static String value(String parameter, String value) throws IOException {
        String special = value.chars().filter(letter -> "\"'\\,;\n".indexOf(letter) >= 0)
                .mapToObj(letter -> String.valueOf((char) letter)).distinct().collect(Collectors.joining(" "));
        if (!special.isEmpty()) {
            throw new IOException(parameter + ": `" + value + "` holds " + special
                    + ", which cannot be handed on to the agent");
        }
        return value;
    }
}
