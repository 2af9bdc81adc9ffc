package io.github.classhook.advice;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The result of a method with {@link BeforeCall} becomes this operand of the call. The object whose method is called stays.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface ReplaceOperand {
    /** The position, as for {@link Operand}. */
    int value();
}
