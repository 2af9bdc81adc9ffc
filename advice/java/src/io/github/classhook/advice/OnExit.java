package io.github.classhook.advice;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The method runs when an advised method ends. Its result is {@code void}, or has a use by {@link ReplaceReturned} or
 * {@link ReplaceThrown}.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface OnExit {
    /** Runs where the advised method returns. */
    boolean onReturn() default true;

    /** Runs where an exception leaves the advised method. */
    boolean onThrow() default true;

    /** Lets an exception of the method reach the program, instead of counting and swallowing it. */
    boolean rethrow() default false;
}
