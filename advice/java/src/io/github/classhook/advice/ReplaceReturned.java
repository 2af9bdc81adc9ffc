package io.github.classhook.advice;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The result of a method with {@link OnExit} becomes that of the call. It runs at normal ends alone; with
 * {@code onThrow = true} the call also returns that result where an exception would leave it.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface ReplaceReturned {}
