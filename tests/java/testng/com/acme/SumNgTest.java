package com.acme;

import static org.testng.Assert.assertEquals;

import org.testng.annotations.AfterMethod;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.BeforeSuite;
import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;

public class SumNgTest {
    @BeforeSuite
    public void beforeAll() {
        Sum.unused();
    }

    @BeforeClass
    public void prepare() {
        new Shared().prepare();
    }

    @AfterMethod
    public void after(java.lang.reflect.Method test) {
        if (test.getName().equals("adds")) {
            new Shared().none();
        }
    }

    @Test
    public void adds() {
        assertEquals(Sum.add(2, 3), 5);
    }

    @DataProvider(parallel = true)
    public Object[][] divisors() {
        return new Object[][] {{1}, {2}};
    }

    @Test(dataProvider = "divisors")
    public void divides(int divisor) {
        assertEquals(Sum.divide(0, divisor), 0);
    }

    @Test(timeOut = 60_000)
    public void zero() {
        assertEquals(Sum.divide(7, 0), 0);
    }

    @Test(expectedExceptions = NullPointerException.class)
    public void fails() {
        String none = null;
        assertEquals(Sum.add(none.length(), 3), 5);
    }
}
