package io.github.classhook.advice;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The result of the method with {@link OnEntry}, for the same call.
 */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.CLASS)
public @interface FromEntry {
    /** The name of that method, if several methods with {@link OnEntry} have a result. */
    String value() default "";
}
