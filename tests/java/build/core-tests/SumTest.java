package com.acme;

public class SumTest implements Runnable {
    @Override
    public void run() {
        if (Sum.of(1, 2) != 3) {
            throw new AssertionError();
        }
    }
}
