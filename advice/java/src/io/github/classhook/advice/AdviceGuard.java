package io.github.classhook.advice;

import java.util.Arrays;

/**
 * Runs between program and advice. Generated methods call it, in the order {@link #enter} or {@link #push} or
 * {@link #pop}, the advice, and {@link #end}, or {@link #failed} and {@link #passed} after an exception of the advice.
 *
 * <p>Each package of the program has its own copy, as it has of the advice. The state of a thread consists of classes of
 * the JDK, so that a thread does not keep the loader of a copy alive.
 */
final class AdviceGuard {
    /** Places in the state of a thread. */
    private static final int NUMBERS = 0, CALLS = 1, BITS = 2, VALUES = 3;

    /** Places among the numbers of a thread: 1 while it runs advice, and the number of open calls. */
    private static final int ACTIVE = 0, DEPTH = 1;

    /**
     * The most open calls of a thread. A constructor whose superclass throws begins a call that does not end, so a thread
     * might collect them.
     */
    private static final int MOST = 1 << 16;

    /** Part of the names of the classes that Classhook brings into a program. A digest and the name in the source follow. */
    private static final String OWN = "$Classhook$";

    /** The sources of this package, which run between program and advice. */
    private static final String OWN_FILES = ";AdviceGuard.java;Events.java;ProbedRows.java;Call.java;";

    private static final ThreadLocal<Object[]> STATES = new ThreadLocal<>();

    /** The failures of each method with advice. An atomic array would need code of the JDK that may have advice, too. */
    private static final int[] FAILURES = new int[64];

    private AdviceGuard() {}

    /** Returns the state of this thread, or null if it runs advice already, or this class is still being initialised. */
    static Object[] enter() {
        if (STATES == null) {
            return null;
        }
        Object[] state = STATES.get();
        if (state == null) {
            state = new Object[] {new int[2], new int[4], new long[4], new Object[4]};
            STATES.set(state);
        }
        int[] numbers = (int[]) state[NUMBERS];
        if (numbers[ACTIVE] != 0) {
            return null;
        }
        numbers[ACTIVE] = 1;
        return state;
    }

    /** Like {@link #enter}, and begins a call of the method with this number. */
    static Object[] push(int call) {
        Object[] state = enter();
        if (state != null) {
            int[] numbers = (int[]) state[NUMBERS];
            int depth = numbers[DEPTH];
            if (depth == MOST) {
                Arrays.fill((Object[]) state[VALUES], null);
                depth = 0;
            }
            if (depth == ((int[]) state[CALLS]).length) {
                grow(state, depth);
            }
            ((int[]) state[CALLS])[depth] = call;
            ((long[]) state[BITS])[depth] = 0;
            ((Object[]) state[VALUES])[depth] = null;
            numbers[DEPTH] = depth + 1;
        }
        return state;
    }

    private static void grow(Object[] state, int depth) {
        state[CALLS] = Arrays.copyOf((int[]) state[CALLS], depth * 2);
        state[BITS] = Arrays.copyOf((long[]) state[BITS], depth * 2);
        state[VALUES] = Arrays.copyOf((Object[]) state[VALUES], depth * 2);
    }

    /** Keeps a value of the innermost call. */
    static void keep(Object[] state, long bits) {
        ((long[]) state[BITS])[((int[]) state[NUMBERS])[DEPTH] - 1] = bits;
    }

    /** Keeps a value of the innermost call. */
    static void keep(Object[] state, Object value) {
        ((Object[]) state[VALUES])[((int[]) state[NUMBERS])[DEPTH] - 1] = value;
    }

    /**
     * Like {@link #enter}, and ends the innermost call of the method with this number. Calls in it whose end was not seen,
     * for example because the stack was full, end with it.
     */
    static Object[] pop(int call) {
        Object[] state = enter();
        if (state == null) {
            return null;
        }
        int[] numbers = (int[]) state[NUMBERS];
        int[] calls = (int[]) state[CALLS];
        int depth = numbers[DEPTH];
        int at = depth;
        do {
            at--;
        } while (at >= 0 && calls[at] != call);
        if (at < 0) { // the call began before there was advice
            at = depth;
            if (depth == calls.length) {
                grow(state, depth);
            }
            ((long[]) state[BITS])[at] = 0;
            ((Object[]) state[VALUES])[at] = null;
        }
        for (int over = at + 1; over < depth; over++) {
            ((Object[]) state[VALUES])[over] = null;
        }
        numbers[DEPTH] = at;
        return state;
    }

    /** Ends a call like {@link #pop}, where no advice reads its value. */
    static void drop(int call) {
        Object[] state = pop(call);
        if (state != null) {
            value(state);
            end(state);
        }
    }

    /** The value of the call that ended last. */
    static long bits(Object[] state) {
        return ((long[]) state[BITS])[((int[]) state[NUMBERS])[DEPTH]];
    }

    /** The value of the call that ended last, once. */
    static Object value(Object[] state) {
        Object[] values = (Object[]) state[VALUES];
        int at = ((int[]) state[NUMBERS])[DEPTH];
        Object value = values[at];
        values[at] = null;
        return value;
    }

    /** Begins a call of the method with this number, whose entry several methods with advice give values from. */
    static void open(int call) {
        Object[] state = push(call);
        if (state != null) {
            end(state);
        }
    }

    /** Like {@link #enter}, where {@link #open} has begun the call. */
    static Object[] join(int call) {
        Object[] state = enter();
        if (state != null) {
            int at = ((int[]) state[NUMBERS])[DEPTH] - 1;
            if (at < 0 || ((int[]) state[CALLS])[at] != call) {
                end(state);
                return null;
            }
        }
        return state;
    }

    /** Keeps one of several values of the innermost call. */
    static void keep(Object[] state, Object value, int place) {
        Object[] values = (Object[]) state[VALUES];
        int at = ((int[]) state[NUMBERS])[DEPTH] - 1;
        Object[] all = (Object[]) values[at];
        if (all == null || all.length <= place) {
            all = all == null ? new Object[place + 1] : Arrays.copyOf(all, place + 1);
            values[at] = all;
        }
        all[place] = value;
    }

    /** One of several values of the call that ended last. */
    static Object value(Object[] state, int place) {
        Object[] all = (Object[]) ((Object[]) state[VALUES])[((int[]) state[NUMBERS])[DEPTH]];
        return all == null || all.length <= place ? null : all[place];
    }

    /** A kept number as its bits; those of zero without one. */
    static long bits(Object value) {
        return value == null ? 0 : ((Long) value).longValue();
    }

    /** The loader of the advised class, which has this copy, too. */
    static ClassLoader loader() {
        return AdviceGuard.class.getClassLoader();
    }

    /** The thread runs advice again, after a call in it. */
    static void resume(Object[] state) {
        ((int[]) state[NUMBERS])[ACTIVE] = 1;
    }

    /** The advice has returned. */
    static void end(Object[] state) {
        ((int[]) state[NUMBERS])[ACTIVE] = 0;
    }

    /** The advice has thrown this, which the program does not see. */
    static void failed(Throwable thrown, String advice, int number) {
        try {
            int times = count(number);
            if (times == 1) {
                System.err.println("warning[H0744]: the advice " + advice + " has thrown an exception, which the program does not see");
                thrown.setStackTrace(readable(thrown.getStackTrace()));
                thrown.printStackTrace();
            } else if (isPowerOfTen(times)) {
                System.err.println("warning[H0744]: the advice " + advice + " has thrown exceptions " + times + " times");
            }
        } catch (Throwable full) {
            // There is no stack or memory left to report it.
        }
        passed(thrown);
    }

    /** Returns the frames with the names of the source, without those of generated classes. */
    private static StackTraceElement[] readable(StackTraceElement[] frames) {
        StackTraceElement[] kept = new StackTraceElement[frames.length];
        int count = 0;
        for (StackTraceElement frame : frames) {
            String name = readable(frame.getClassName());
            boolean isOwn = name != frame.getClassName();
            boolean isGenerated = isOwn && (frame.getFileName() == null || OWN_FILES.contains(";" + frame.getFileName() + ";"));
            if (!isGenerated) {
                kept[count++] = isOwn
                        ? new StackTraceElement(name, frame.getMethodName(), frame.getFileName(), frame.getLineNumber())
                        : frame;
            }
        }
        return Arrays.copyOf(kept, count);
    }

    /** Returns the name of a class of the advice in its source; the same string for another class. */
    static String readable(String name) {
        int at = name.indexOf(OWN);
        int end = at < 0 ? -1 : name.indexOf('$', at + OWN.length());
        return end < 0 ? name : name.substring(0, at) + name.substring(end + 1);
    }

    private static synchronized int count(int number) {
        return ++FAILURES[number];
    }

    private static boolean isPowerOfTen(int number) {
        while (number % 10 == 0) {
            number /= 10;
        }
        return number == 1;
    }

    /** The advice has thrown this, which the program gets. */
    static void passed(Throwable thrown) {
        Object[] state = STATES.get();
        if (state != null) {
            end(state);
        }
    }
}
