package com.acme;

public class Shared {
    private int used;

    void prepare() {
        used++;
    }

    int none() {
        return 0;
    }
}
