package com.acme.web;

public class Unused {
    public boolean isUsed() {
        return false;
    }
}
