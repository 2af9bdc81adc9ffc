package io.github.classhook.advice;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The result of a method with {@link OnEntry} becomes an argument of the call. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface ReplaceArgument {
    /** The position of the argument, counted from 0. */
    int value();
}
