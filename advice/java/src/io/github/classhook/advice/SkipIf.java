package io.github.classhook.advice;

/** The result of a method with {@link OnEntry} for which the body of the advised method does not run. */
public enum SkipIf {
    /** None. */
    NEVER,
    /** {@code true}. The call returns null, zero or {@code false}. */
    TRUE,
    /** An object. It becomes the result of the call. */
    NOT_NULL
}
