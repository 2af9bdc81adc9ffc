package com.acme;

/** Excluded by name. */
public class ShopConfig {
    public String name() {
        return "shop";
    }
}
