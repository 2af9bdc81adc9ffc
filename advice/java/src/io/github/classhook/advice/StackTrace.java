package io.github.classhook.advice;

/** The innermost frames of a stack, as a value of a row. */
public final class StackTrace {
    private final StackTraceElement[] frames;

    StackTrace(StackTraceElement[] frames) {
        this.frames = frames;
    }

    /** Returns the frames, the innermost first. */
    public StackTraceElement[] frames() {
        return frames.clone();
    }

    /** Returns the frames in one line, the innermost first. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (StackTraceElement frame : frames) {
            text.append(text.length() == 0 ? "" : ", ").append(frame);
        }
        return text.toString();
    }
}
