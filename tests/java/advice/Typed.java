import io.github.classhook.advice.*;

/** Takes values by their own types, and gives some from the entry to the exit. */
class Typed {
    @Advice("Shop#add")
    static class Add {
        @OnEntry
        static double enter(@This Shop self, @Argument(0) byte a, @Argument(1) short b, @Argument(2) char c, @Argument(3) int d,
                @Argument(4) long e, @Argument(5) float f, @Argument(6) double g, @Argument(7) boolean h, @Argument(8) String i) {
            System.out.println("add " + self + " " + a + b + c + d + e + f + g + h + i);
            return 1.5;
        }

        @OnExit(onThrow = false)
        static void leave(@FromEntry double given, @Returned long sum, @Argument(4) Object boxed, @This Object self) {
            System.out.println("sum " + given + " " + sum + " " + boxed.getClass().getSimpleName() + " " + self);
        }
    }

    @Advice("Shop#depth")
    static class Depth {
        @OnEntry
        static int enter(@Argument(0) int left) {
            return left;
        }

        @OnExit
        static void leave(@FromEntry int left, @Returned int depth) {
            System.out.println("depth " + left + " " + depth);
        }
    }

    @Advice("Shop#fail")
    static class Fail {
        @OnEntry
        static String[] enter(@Argument(0) String text) {
            return new String[] {text};
        }

        @OnExit(onReturn = false)
        static void leave(@FromEntry String[] text, @Thrown Throwable thrown) {
            System.out.println("failed " + text[0] + " " + thrown.getMessage());
        }
    }

    @Advice("Shop#half")
    static class Half {
        @OnExit
        static void leave(@Argument(0) double value, @Returned double half) {
            System.out.println("half " + value + " " + half);
        }
    }

    @Advice("Shop#<init>")
    static class Made {
        @OnEntry
        static float enter(@Argument(0) String name) {
            return name.length();
        }

        @OnExit
        static void leave(@FromEntry float length, @This Shop self, @Thrown Throwable thrown) {
            System.out.println("made " + length + " " + self + " " + (thrown != null));
        }
    }
}
