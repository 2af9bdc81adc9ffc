package io.github.classhook.maven;

import java.util.Collections;
import java.util.List;

/** Lists that Maven leaves unset where the configuration has none. */
final class Lists {
    private Lists() {
    }

    static List<String> orEmpty(List<String> list) {
        return list == null ? Collections.emptyList() : list;
    }
}
