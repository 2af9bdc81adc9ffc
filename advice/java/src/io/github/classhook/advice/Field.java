package io.github.classhook.advice;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A field of the class of the advised method, by its name; it may be private. At the entry of a constructor, only static fields
 * have a value.
 */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.CLASS)
public @interface Field {
    /** The name. The class itself has to declare the field. */
    String value();
}
