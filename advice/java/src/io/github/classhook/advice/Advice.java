package io.github.classhook.advice;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a class with advice: static methods that run in the methods of other classes.
 *
 * <p>A pattern names a class and its methods: {@code com.acme.Shop#find*}, {@code com.acme.**#close(I*}. In front of the
 * class, {@code <:} means the classes that name it as a supertype, and {@code @} those with this annotation. A pattern
 * with {@code !} excludes methods. {@code *} for the methods leaves out constructors ({@code <init>}) and initialisers
 * ({@code <clinit>}).
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.CLASS)
public @interface Advice {
    /** The patterns of the methods. */
    String[] value();
}
