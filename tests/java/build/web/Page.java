package com.acme;

public class Page {
    public static String of(int number) {
        return number < 0 ? "none" : "page " + number;
    }
}
