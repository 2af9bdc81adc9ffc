package com.acme;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class LimitIT {
    @Test
    public void sumHasALimit() {
        assertEquals(100, new Sum().add(101).get());
    }
}
