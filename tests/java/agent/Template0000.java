/** A class with some hundred probes, copied under other names by {@link Loading}. */
public class Template0000 {
    public static int pick(int n) {
        switch (n) {
            case 0: return zero(n);
            case 1: return one(n);
            case 2: return two(n);
            default: return rest(n);
        }
    }

    static int zero(int n) {
        return n + 10;
    }

    static int one(int n) {
        return n > 0 ? n + 20 : never(n);
    }

    static int two(int n) {
        return n + 30;
    }

    static int rest(int n) {
        return n + 40;
    }

    /** Never called: its branches are probes that are never hit. */
    static int never(int n) {
        int result = 0;
        if (n > 0 && n % 2 == 0) { result += 0; }
        if (n > 1 && n % 3 == 0) { result += 1; }
        if (n > 2 && n % 4 == 0) { result += 2; }
        if (n > 3 && n % 5 == 0) { result += 3; }
        if (n > 4 && n % 6 == 0) { result += 4; }
        if (n > 5 && n % 7 == 0) { result += 5; }
        if (n > 6 && n % 8 == 0) { result += 6; }
        if (n > 7 && n % 9 == 0) { result += 7; }
        if (n > 8 && n % 10 == 0) { result += 8; }
        if (n > 9 && n % 11 == 0) { result += 9; }
        if (n > 10 && n % 12 == 0) { result += 10; }
        if (n > 11 && n % 13 == 0) { result += 11; }
        if (n > 12 && n % 14 == 0) { result += 12; }
        if (n > 13 && n % 15 == 0) { result += 13; }
        if (n > 14 && n % 16 == 0) { result += 14; }
        if (n > 15 && n % 17 == 0) { result += 15; }
        if (n > 16 && n % 18 == 0) { result += 16; }
        if (n > 17 && n % 19 == 0) { result += 17; }
        if (n > 18 && n % 20 == 0) { result += 18; }
        if (n > 19 && n % 21 == 0) { result += 19; }
        if (n > 20 && n % 22 == 0) { result += 20; }
        if (n > 21 && n % 23 == 0) { result += 21; }
        if (n > 22 && n % 24 == 0) { result += 22; }
        if (n > 23 && n % 25 == 0) { result += 23; }
        if (n > 24 && n % 26 == 0) { result += 24; }
        if (n > 25 && n % 27 == 0) { result += 25; }
        if (n > 26 && n % 28 == 0) { result += 26; }
        if (n > 27 && n % 29 == 0) { result += 27; }
        if (n > 28 && n % 30 == 0) { result += 28; }
        if (n > 29 && n % 31 == 0) { result += 29; }
        if (n > 30 && n % 32 == 0) { result += 30; }
        if (n > 31 && n % 33 == 0) { result += 31; }
        if (n > 32 && n % 34 == 0) { result += 32; }
        if (n > 33 && n % 35 == 0) { result += 33; }
        if (n > 34 && n % 36 == 0) { result += 34; }
        if (n > 35 && n % 37 == 0) { result += 35; }
        if (n > 36 && n % 38 == 0) { result += 36; }
        if (n > 37 && n % 39 == 0) { result += 37; }
        if (n > 38 && n % 40 == 0) { result += 38; }
        if (n > 39 && n % 41 == 0) { result += 39; }
        return result;
    }
}
