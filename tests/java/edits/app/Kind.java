package app;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

@Retention(RetentionPolicy.RUNTIME)
public @interface Kind {
    Class<? extends Shape<?>> value();

    Shape.Square.Size size() default Shape.Square.Size.LARGE;
}
