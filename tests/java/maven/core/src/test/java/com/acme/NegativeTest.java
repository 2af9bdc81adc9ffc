package com.acme;

import org.junit.Test;

public class NegativeTest {
    @Test(expected = IllegalArgumentException.class)
    public void refuses() {
        new Sum().add(-1);
    }
}
