package io.github.classhook.advice;

/**
 * Records the rows of one advice. Each class with advice has a generated class in place of this one, whose methods have
 * probes.
 */
final class ProbedRows {
    private ProbedRows() {}

    static void record(Object row) {}

    static void record(String table, Object[] keysAndValues) {}

    static void count(String name) {}

    static void time(String name, long nanos) {}
}
