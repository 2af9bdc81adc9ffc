package com.acme;

public class Unused {
    int nothing() {
        return 0;
    }
}
