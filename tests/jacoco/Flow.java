// Loops, conditions and throws: where probes and lines meet.

class Flow {
    static int field = compute(3) > 2 ? 1 : 2;
    int member = field + 1;

    static int compute(int x) {
        int sum = 0;
        for (int i = 0; i < x; i++) {
            if (i % 2 == 0 && i > 2 || i == 7) {
                sum += i;
            } else if (i == 3) {
                continue;
            }
            while (sum > 100) {
                sum /= 2;
                if (sum == 51) break;
            }
        }
        do {
            sum--;
        } while (sum > 0);
        return sum;
    }

    static boolean conditions(boolean a, boolean b, boolean c) {
        boolean r = a ? b : c;
        r |= a && (b || c);
        return r ^ !(a || b && c) ? a == b : b != c;
    }

    static String calls(Object o) {
        StringBuilder builder = new StringBuilder();
        builder.append(o)
            .append(o.hashCode())
            .append(o == null ? "x" : "y");
        String s = builder.toString();
        return s
            + s.length();
    }

    static int forever(int x) {
        while (true) {
            if (x++ > 10) {
                throw new IllegalArgumentException(
                    "x is "
                    + x);
            }
        }
    }

    static void endless() {
        for (;;) {
        }
    }

    static int labels(int[][] a) {
        int n = 0;
        outer:
        for (int[] row : a) {
            for (int x : row) {
                if (x < 0) continue outer;
                if (x > 9) break outer;
                n += x;
            }
        }
        return n;
    }

    static long catches(String s) {
        try {
            return Long.parseLong(s);
        } catch (NumberFormatException e) {
            return -1;
        } catch (NullPointerException | IllegalStateException e) {
            return -2;
        }
    }

    static int oneLine(int a) { if (a > 0) return a; else return compute(a); }

    static void manyBranches(int x) {
        boolean all = x > 1 && x > 2 && x > 3 && x > 4 && x > 5 && x > 6 && x > 7 && x > 8 && x > 9 && x > 10;
        if (all) field++;
    }
}
