// Members that the compiler makes: bridges, enum methods, lambdas, synthetic classes, private constructors.

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

final class Members {
    private Members() {
    }

    static final class NotEmpty {
        private final int value;

        private NotEmpty() {
            value = 3;
        }
    }

    enum Plain {
        A, B;
    }

    enum WithBody {
        ONE {
            @Override
            int value() {
                return 1;
            }
        },
        TWO {
            @Override
            int value() {
                return 2;
            }
        };

        abstract int value();
    }

    enum WithConstructor {
        X(1), Y(2);

        private final int number;

        WithConstructor(int number) {
            this.number = number;
        }

        static WithConstructor valueOf(String name, int number) {
            return number > 0 ? X : valueOf(name);
        }
    }

    static class Numbers implements Comparable<Numbers>, Iterable<Integer> {
        @Override
        public int compareTo(Numbers other) {
            return 0;
        }

        @Override
        public Iterator<Integer> iterator() {
            return List.of(1, 2).iterator();
        }
    }

    static int lambdas(int bound) {
        Supplier<Integer> supplier = () -> bound > 2 ? bound : -bound;
        Function<Integer, Integer> function = x -> {
            if (x > 7) {
                return x;
            }
            return supplier.get();
        };
        return function.apply(supplier.get());
    }

    static int enumSwitch(Plain plain) {
        switch (plain) {
            case A:
                return 1;
            case B:
                return 2;
            default:
                return 3;
        }
    }

    static void asserts(int x) {
        assert x > 0;
        assert x < 100 : "too large: " + x;
    }

    @Retention(RetentionPolicy.CLASS)
    @Target({ElementType.TYPE, ElementType.METHOD, ElementType.CONSTRUCTOR})
    @interface MyGeneratedCode {
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface generated {
    }

    @MyGeneratedCode
    static class Left {
        int out(int x) {
            return x > 0 ? 1 : 2;
        }
    }

    static class Partly {
        @MyGeneratedCode
        int out(int x) {
            return x > 0 ? 1 : 2;
        }

        @generated
        int in(int x) {
            return x > 0 ? 1 : 2;
        }
    }

    interface WithDefault {
        int CONSTANT = Integer.parseInt("3");

        default int twice(int x) {
            return x * 2;
        }

        static int thrice(int x) {
            return x * 3;
        }
    }
}
