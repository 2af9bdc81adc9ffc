import io.github.classhook.advice.*;

/** Replaces arguments, results and exceptions, and skips bodies. */
class Replacing {
    @Advice("Shop#add")
    static class Add {
        @OnEntry
        @ReplaceArgument(4)
        static long more(@Argument(4) long e) {
            return e + 1000;
        }

        @OnEntry
        @ReplaceArgument(8)
        static String longer(@Argument(8) String i) {
            return i + "!";
        }

        @OnEntry
        @ReplaceArgument(1)
        static Object same(@Argument(1) Object b) {
            throw new IllegalStateException("stays as it is");
        }
    }

    @Advice("Shop#half")
    static class Half {
        @OnEntry
        static long start(@Argument(0) double value) {
            return (long) value;
        }

        @OnExit
        @ReplaceReturned
        static double larger(@FromEntry long start, @Returned double half) {
            return half + start;
        }
    }

    @Advice("Shop#fail")
    static class Fail {
        @OnExit(onReturn = false, onThrow = true)
        @ReplaceReturned
        static String recovered(@Thrown Throwable thrown) throws Throwable {
            System.out.println("recovers from " + thrown.getMessage());
            return "recovered";
        }
    }

    @Advice("Shop#<init>")
    static class Made {
        @OnExit
        @ReplaceThrown
        static RuntimeException other(@Thrown Throwable thrown) {
            return new IllegalArgumentException("another " + thrown.getMessage());
        }
    }

    @Advice("Shop#depth")
    static class Depth {
        @OnEntry(skipIf = SkipIf.NOT_NULL)
        static Integer known(@Argument(0) int left) {
            return left == 1 ? Integer.valueOf(100) : null;
        }

        @OnExit
        static void leave(@Argument(0) int left, @Returned int depth) {
            System.out.println("depth " + left + " " + depth);
        }
    }

    @Advice("Shop#pair")
    static class Pair {
        @OnEntry
        static String give() {
            return "given";
        }

        @OnEntry(skipIf = SkipIf.TRUE)
        static boolean skip() {
            return true;
        }

        @OnExit
        @ReplaceReturned
        static int[] pair(@FromEntry String given, @Returned int[] none) {
            System.out.println(given + " " + none);
            return new int[7];
        }
    }

    @Advice("Shop$Greeter#*")
    static class Greeter {
        @OnEntry(skipIf = SkipIf.NOT_NULL)
        static Object greet(@Argument(0) String name) {
            return "skipped " + name;
        }
    }
}
