import java.util.concurrent.Callable;

/** A class that gets nested, local and anonymous classes. */
public class Nested {
    private int count = 1;
    private static int total = 10;

    static class Kept {
        private final String own = "own";

        private String more() {
            return own + " more";
        }
    }

    private static class Added extends AddedBase implements Named {
        private String hidden = "hidden";

        private Added(int number) {
            super(number);
        }

        private String both(Nested outer) {
            return hidden + outer.count + total + number() + outer.secret();
        }

        @Override
        public String name() {
            return "named " + hidden;
        }
    }

    private abstract static class AddedBase {
        private final int number;

        AddedBase(int number) {
            this.number = number;
        }

        int number() {
            return number;
        }
    }

    private interface Named {
        String name();
    }

    private enum Mode {
        FAST,
        SLOW
    }

    private String secret() {
        return "secret";
    }

    private static String mode(Mode mode) {
        switch (mode) {
            case FAST:
                return "fast";
            default:
                return mode.name();
        }
    }

    class Inner {
        String outer() {
            count++;
            return "inner " + count + secret();
        }
    }

    String text() {
        Added added = new Added(4);
        Named named = added;
        Callable<String> anonymous = new Callable<String>() {
            private int calls;

            @Override
            public String call() {
                calls++;
                return "anonymous " + calls + count + secret() + total;
            }
        };
        try {
            return "new " + added.both(this) + added.hidden + named.name() + anonymous.call() + anonymous.call()
                    + new Kept().more() + mode(Mode.FAST) + mode(Mode.SLOW) + new Inner().outer();
        } catch (Exception thrown) {
            return thrown.toString();
        }
    }

    public static String answer() {
        return new Nested().text();
    }
}
