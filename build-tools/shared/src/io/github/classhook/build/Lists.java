package io.github.classhook.build;

import java.util.Collections;
import java.util.List;

/** Lists that Maven leaves null if they are not configured. */
public final class Lists {
    private Lists() {
    }

    public static List<String> orEmpty(List<String> list) {
        return list == null ? Collections.emptyList() : list;
    }
}
