package shop;

import rates.Rate;

/** The patched class; it uses one of a library. */
public class Account {
    static String answer() {
        return "original " + Rate.percent();
    }
}
