package com.acme;

/** Adds, and has a branch that only the tests of another module take. */
public class Sum {
    private int sum;

    public Sum add(int number) {
        if (number < 0) {
            throw new IllegalArgumentException("negative: " + number);
        }
        sum += number;
        return this;
    }

    public int get() {
        return sum > 100 ? 100 : sum;
    }
}
