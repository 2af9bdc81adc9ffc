package com.acme;

import static org.junit.Assert.assertEquals;

import io.github.classhook.tests.TestRun;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

public class LimitIT {
    @Before
    public void begin() {
        TestRun.begin("limit");
    }

    @After
    public void end() {
        TestRun.end("limit");
    }

    @Test
    public void sumHasALimit() {
        assertEquals(100, new Sum().add(101).get());
    }
}
