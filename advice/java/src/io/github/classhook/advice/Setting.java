package io.github.classhook.advice;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A static field, not final, whose initial value {@code --advice-setting NAME=VALUE} replaces: a number, a
 * {@code boolean}, a {@code char} or a {@code String}.
 */
@Target(ElementType.FIELD)
@Retention(RetentionPolicy.CLASS)
public @interface Setting {}
