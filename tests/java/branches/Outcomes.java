package branches;

/** Decisions with an outcome that never occurred. The comment of a line is the expected text of the report. */
public class Outcomes {
    enum Colour { RED, GREEN, BLUE }

    static int sum;

    static void conditions(boolean yes, boolean no, int one) {
        if (yes) // false was never taken
            sum++;
        if (no) // true was never taken
            sum++;
        if (!yes) // true was never taken
            sum++;
        if (one == 1) // false was never taken
            sum++;
        if (one != 1) // true was never taken
            sum++;
        if (one > 3.5) // true was never taken
            sum++;
        sum += yes ? 1 : 2; // false was never taken
        boolean kept = no; boolean same = one == 1; // false was never taken
        if (kept == same) // true was never taken
            sum++;
    }

    static void expressions(boolean yes, boolean no, Object none) {
        if (yes || no) // condition 1: false was never taken; condition 2: never reached
            sum++;
        if (no || yes) // condition 1: true was never taken; condition 2: false was never taken
            sum++;
        if (no && yes) // condition 1: true was never taken; condition 2: never reached
            sum++;
        if (yes && no || yes) // condition 1: false was never taken; condition 2: true was never taken; condition 3: false was never taken
            sum++;
        if ((no || yes) && no) // condition 1: true was never taken; condition 2: false was never taken; condition 3: true was never taken
            sum++;
        if (none == null) // false was never taken
            sum++;
        boolean both = yes && !no; // condition 1: false was never taken; condition 2: false was never taken
        if (both) // false was never taken
            sum++;
    }

    static void loops(int none, boolean yes) {
        while (none > 0) // true was never taken
            none--;
        do {
            sum++;
        } while (none > 0); // true was never taken
        for (int turn = 0; turn < 2; turn++) // all
            sum++;
        for (;;) {
            sum++;
            if (yes) // false was never taken
                break;
        }
        for (;;) {
            if (yes) { // false was never taken
                sum++;
                if (none == 0) // false was never taken
                    break;
            }
        }
    }

    static void forEver(boolean yes) {
        for (;;) {
            sum++;
            if (yes) // the way back to line 70 was never taken
                return;
        }
    }

    static void switches(int number, char letter, String text, Colour colour) {
        switch (number) { // case 3, default were never taken
            case 1:
                sum++;
                break;
            case 3:
                sum--;
                break;
            default:
                sum += 2;
        }
        switch (number) { // case 4, 5, case 1000, default were never taken
            case 1: sum++; break;
            case 4: case 5: sum--; break;
            case 1000: sum--; break;
            default: sum += 2;
        }
        switch (letter) { // case 'b', default were never taken
            case 'a': sum++; break;
            case 'b': sum--; break;
            default: sum += 2;
        }
        char next = (char) (letter + 1);
        switch (next) { // case 'a' was never taken
            case 'a': sum++; break;
            default: sum += 2;
        }
        switch (text) { // case "one", default were never taken
            case "one": sum++; break;
            case "two": sum--; break;
            default: sum += 2;
        }
        switch (colour) { // the case at line 111, default were never taken
            case RED: sum++; break;
            case GREEN:
                sum--;
                break;
            default:
                sum += 2;
        }
    }

    public static void main(String[] arguments) {
        conditions(true, false, 1);
        expressions(true, false, null);
        expressions(true, false, null);
        loops(0, true);
        forEver(true);
        switches(1, 'a', "two", Colour.RED);
        for (boolean both : new boolean[] {true, false}) // all
            sum += both ? 1 : 2; // all
    }
}
