package com.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SumTest {
    @BeforeAll
    static void prepare() {
        new Shared().prepare();
    }

    @Test
    void adds() {
        assertEquals(5, Sum.add(2, 3));
    }

    @Test
    void addsAgain() {
        assertEquals(0, Sum.add(-2, 2));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void divides(int divisor) {
        assertEquals(0, Sum.divide(0, divisor));
    }
}
