import io.github.classhook.advice.*;

/** Gets fields, lines, loaders, and several values from the entry. */
class Places {
    @Advice("Till#pay")
    static class Pay {
        @OnEntry
        static long first(@Argument(0) long amount, @Line int line) {
            return amount + line;
        }

        @OnEntry
        static String second(@Field("drawer") Object drawer) {
            return "drawer " + drawer;
        }

        @OnEntry
        static float third() {
            return 1.5f;
        }

        @OnExit
        static void end(@FromEntry("second") String second, @FromEntry("first") long first, @FromEntry("third") float third,
                @Field("drawer") int drawer, @Field("owner") String owner, @Line int line, @Loader ClassLoader loader) {
            System.out.println(second + " " + first + " " + third + " " + drawer + " " + owner + " " + line + " " + (loader == Till.class.getClassLoader()));
        }
    }

    @Advice("Till#<init>")
    static class Made {
        @OnExit
        static void made(@Field("drawer") int drawer, @Field("owner") CharSequence owner) {
            System.out.println("made " + drawer + " " + owner);
        }
    }

    @Advice({"Till#flaky", "Till#hashCode"})
    static class Failed {
        @OnEntry
        static int one() {
            return 1;
        }

        @OnEntry
        static double two(@Field("tries") int tries) {
            return tries + 0.25;
        }

        @OnExit(onReturn = false)
        static void failed(@FromEntry("two") double two, @FromEntry("one") int one, @Line int line, @Field("tries") int tries) {
            System.out.println("failed " + one + " " + two + " " + line + " " + tries);
        }
    }
}
