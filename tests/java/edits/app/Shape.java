package app;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Every place of a class file that may contain a type's name. */
@Kind(Shape.Round.class)
public sealed interface Shape<T extends Comparable<T>> permits Shape.Round, Shape.Square {
    double area();

    record Round(double radius, List<? extends Shape<?>> inner) implements Shape<String> {
        @Override
        public double area() {
            return Math.PI * radius * radius;
        }
    }

    final class Square implements Shape<Integer> {
        public enum Size { SMALL, LARGE }

        class Corner {
            String at() {
                return Square.this.size + "!";
            }
        }

        final Size size;

        Square(Size size) {
            this.size = size;
        }

        @Override
        public double area() {
            return switch (size) {
                case SMALL -> 1;
                case LARGE -> 100;
            };
        }
    }

    interface Measure<S extends Shape<?>> {
        double of(S shape);
    }

    Map<String, Function<Shape<?>, Shape.Square.Size[]>> TABLE = Map.of("sizes", shape -> Square.Size.values());

    static <S extends Shape<?>> Comparator<S> by(Measure<? super S> measure) {
        return (a, b) -> Double.compare(measure.of(a), measure.of(b));
    }
}
