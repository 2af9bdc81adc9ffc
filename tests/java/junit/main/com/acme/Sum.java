package com.acme;

public class Sum {
    static final Shared SHARED = new Shared();

    static int add(int a, int b) {
        return a + b;
    }

    static int divide(int a, int b) {
        if (b == 0) {
            return SHARED.none();
        }
        return a / b;
    }

    static int unused() {
        return 1;
    }
}
