package io.github.classhook.advice;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The method runs in place of calls in the advised methods. Its parameter of type {@link Call} runs the call itself, as often as
 * it likes, and its result becomes that of the call.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface Around {
    /** The patterns of the called methods, by the class that the call names: {@code java.net.http.HttpClient#send}. */
    String[] value();

    /** Lets each exception of the method reach the program. Without it, only those of the call do. */
    boolean rethrow() default false;
}
