package io.github.classhook.advice;

import java.util.Arrays;

/**
 * Records rows and counts in the event file of the run. Each table has the thread and the time of its rows.
 *
 * <p>Numbers, texts, enum constants and classes are recorded as they are. Exceptions and stacks become texts of at most
 * 1,024 bytes. Other objects are recorded by class and identity, without a call of their methods.
 */
public final class Events {
    /** Part of the names of the classes that Classhook brings into a program. */
    private static final String OWN = "$Classhook$";

    private Events() {}

    /**
     * Records a row: a Java record, or an object of a class with {@link Row}. The class is the table, and its components or
     * fields are the columns.
     */
    public static void record(Object row) {
        ProbedRows.record(row);
    }

    /**
     * Records a row of a table from keys and values, in turn. Table and keys are constants in the source, and the same
     * table has the same keys everywhere.
     */
    public static void record(String table, Object... keysAndValues) {
        ProbedRows.record(table, keysAndValues);
    }

    /** Counts by a name, which is a constant in the source, in the table {@code counts}. */
    public static void count(String name) {
        ProbedRows.count(name);
    }

    /** Records a time in nanoseconds in the table {@code times}. */
    public static void time(String name, long nanos) {
        ProbedRows.time(name, nanos);
    }

    /** Returns the innermost frames of the program on this thread's stack, at most this many. */
    public static StackTrace stack(int frames) {
        StackTraceElement[] all = new Throwable().getStackTrace();
        int first = 0;
        while (first < all.length && all[first].getClassName().contains(OWN)) {
            first++;
        }
        int end = Math.max(first, (int) Math.min(all.length, (long) first + frames));
        return new StackTrace(Arrays.copyOfRange(all, first, end));
    }

    /** Returns a value as rows hold it. */
    static Object value(Object value) {
        boolean isText = value instanceof Throwable || value instanceof StackTrace || value instanceof CharSequence;
        return isText ? value.toString() : value;
    }

    /** Refuses a row or a name for which no code was made. */
    static void refuse(Object row) {
        String found = row instanceof String ? "\"" + row + "\"" : row == null ? "null" : AdviceGuard.readable(row.getClass().getName());
        throw new IllegalArgumentException("expected a record, an object of a class with @Row, or a constant name of this advice, found " + found);
    }
}
