package com.acme;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class SumTest {
    @Test
    public void adds() {
        assertEquals(3, new Sum().add(1).add(2).get());
    }
}
