package io.github.classhook.advice;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The method runs when an advised method is entered. {@link FromEntry} gives its result to the method at the exit.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface OnEntry {
    /** Lets an exception of the method reach the program, instead of counting and swallowing it. */
    boolean rethrow() default false;

    /** The result for which the body of the advised method does not run. Methods with {@link OnExit} run nevertheless. */
    SkipIf skipIf() default SkipIf.NEVER;
}
