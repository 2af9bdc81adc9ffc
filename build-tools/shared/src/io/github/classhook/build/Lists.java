package io.github.classhook.build;

import java.util.Collections;
import java.util.List;

/** Lists that Maven leaves unset where the configuration has none. */
public final class Lists {
    private Lists() {
    }

    public static List<String> orEmpty(List<String> list) {
        return list == null ? Collections.emptyList() : list;
    }
}
