package com.acme.generated;

/** Excluded by package. */
public class Parser {
    public int parse(String text) {
        return text.isEmpty() ? 0 : Integer.parseInt(text);
    }
}
