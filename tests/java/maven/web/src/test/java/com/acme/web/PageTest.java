package com.acme.web;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class PageTest {
    @Test
    public void shows() {
        assertEquals("much", new Page().show(60, 70));
    }
}
