package shop;

import rates.Rate;

/** The class that is patched; it needs one of a library. */
public class Account {
    static String answer() {
        return "original " + Rate.percent();
    }
}
