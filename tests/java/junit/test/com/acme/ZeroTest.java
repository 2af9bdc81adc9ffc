package com.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

class ZeroTest {
    @TestFactory
    List<DynamicTest> zero() {
        return Collections.singletonList(
                DynamicTest.dynamicTest("zero", () -> assertEquals(0, Sum.divide(7, 0))));
    }
}
