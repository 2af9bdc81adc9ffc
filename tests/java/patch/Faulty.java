/** Calls each of its methods in turn and prints the result whenever it changes. */
public class Faulty {
    static int hits;

    static int constant() {
        return 1;
    }

    static String replaced() {
        return "own";
    }

    static int thrown() {
        return 1;
    }

    static int swallowed() {
        throw new IllegalStateException("own");
    }

    static void logged() {}

    static void calling() {
        called();
    }

    static void called() {}

    static void waiting() {}

    static int sometimes() {
        return 0;
    }

    public static void hit() {
        hits++;
    }

    static String thrownBy() {
        try {
            return "returned " + thrown();
        } catch (RuntimeException exception) {
            return exception.toString();
        }
    }

    static String swallowedBy() {
        try {
            return "returned " + swallowed();
        } catch (RuntimeException exception) {
            return exception.toString();
        }
    }

    public static void main(String[] arguments) throws Exception {
        String last = "";
        while (true) {
            hits = 0;
            logged();
            calling();
            long began = System.nanoTime();
            waiting();
            boolean waited = System.nanoTime() - began >= 20_000_000;
            boolean some = false;
            boolean all = true;
            for (int call = 0; call < 1_000; call++) {
                int one = sometimes();
                some |= one == 1;
                all &= one == 1;
            }
            String now = constant() + "; " + replaced() + "; " + thrownBy() + "; " + swallowedBy() + "; hits " + hits
                + "; waited " + waited + "; sometimes " + (some && !all);
            if (!now.equals(last)) {
                System.out.println(now);
                last = now;
            }
            Thread.sleep(5);
        }
    }
}
