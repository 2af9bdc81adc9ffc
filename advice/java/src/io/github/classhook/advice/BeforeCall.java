package io.github.classhook.advice;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The method runs before calls in the advised methods.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface BeforeCall {
    /** The patterns of the called methods, by the class that the call names: {@code java.net.http.HttpClient#send}. */
    String[] value();

    /** Lets an exception of the method reach the program, instead of counting and swallowing it. */
    boolean rethrow() default false;

    /** The result for which the call does not happen. Methods with {@link AfterCall} run nevertheless. */
    SkipIf skipIf() default SkipIf.NEVER;
}
