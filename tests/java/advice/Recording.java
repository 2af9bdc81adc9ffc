import io.github.classhook.advice.*;

/** Records rows, counts and times. */
class Recording {
    @Advice("Shop#half")
    static class Half {
        @Row
        static class Halved {
            static int made;
            final double value;
            final Object result;
            final StackTrace caller;
            final boolean isLarge;

            Halved(double value, Object result) {
                this.value = value;
                this.result = result;
                caller = Events.stack(2);
                isLarge = value > 4;
            }
        }

        @OnExit
        static void leave(@Argument(0) double value, @Returned Object result) {
            Events.record(new Halved(value, result));
            Events.count("halved");
            Events.time("half", 42L);
        }
    }

    @Advice("Shop#depth")
    static class Depth {
        @OnEntry
        static void enter(@Argument(0) int left) {
            Events.record("depth", "left", left, "text", left == 0 ? null : String.format("%s-%s", left, "x"), "last", left < 1);
            Events.count("entered");
            if (left == 2) Events.count("two");
        }
    }

    @Advice("Shop#fail")
    static class Fail {
        @Row
        static class Failed {
            final Throwable thrown;
            final char letter = 'f';
            final long number = -5;

            Failed(Throwable thrown) {
                this.thrown = thrown;
            }
        }

        @OnExit
        static void leave(@Thrown Throwable thrown) {
            Events.record(new Failed(thrown));
            Events.record("an object that is no row");
        }
    }
}
