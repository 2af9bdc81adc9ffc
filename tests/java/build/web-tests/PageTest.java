package com.acme;

public class PageTest implements Runnable {
    @Override
    public void run() {
        if (!Page.of(Sum.of(1)).equals("page 1")) {
            throw new AssertionError();
        }
    }
}
