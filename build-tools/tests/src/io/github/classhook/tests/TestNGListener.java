package io.github.classhook.tests;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.testng.IConfigurationListener;
import org.testng.IInvokedMethod;
import org.testng.IInvokedMethodListener;
import org.testng.ITestNGMethod;
import org.testng.ITestResult;

/**
 * Reports the tests that TestNG runs to the agent. TestNG finds this class as a service.
 *
 * <p>All runs of a test with a data provider or an invocation count are one test. Methods before and after a test
 * count for it, those before and after a class for the class. Methods around groups, tests of a suite and suites
 * count for no test.
 */
public final class TestNGListener implements IInvokedMethodListener, IConfigurationListener {
    private static final AtomicLong RUNS = new AtomicLong();

    /** The ids of active tests. */
    private final Map<ITestResult, String> underWay = Collections.synchronizedMap(new IdentityHashMap<>());

    @Override
    public void beforeInvocation(IInvokedMethod method, ITestResult result) {
        if (method.isTestMethod()) {
            begin(result, nameOf(method.getTestMethod()));
        }
    }

    @Override
    public void afterInvocation(IInvokedMethod method, ITestResult result) {
        if (method.isTestMethod()) {
            end(result);
        }
    }

    @Override
    public void beforeConfiguration(ITestResult result, ITestNGMethod test) {
        ITestNGMethod method = result.getMethod();
        if (method.isBeforeMethodConfiguration() || method.isAfterMethodConfiguration()) {
            begin(result, nameOf(test == null ? method : test));
        } else if (method.isBeforeClassConfiguration() || method.isAfterClassConfiguration()) {
            begin(result, method.getRealClass().getName());
        }
    }

    @Override
    public void onConfigurationSuccess(ITestResult result, ITestNGMethod test) {
        end(result);
    }

    @Override
    public void onConfigurationFailure(ITestResult result, ITestNGMethod test) {
        end(result);
    }

    @Override
    public void onConfigurationSkip(ITestResult result, ITestNGMethod test) {
        end(result);
    }

    // TestNG 6 calls only these methods, which have no default body there.

    @Override
    public void onConfigurationSuccess(ITestResult result) {}

    @Override
    public void onConfigurationFailure(ITestResult result) {}

    @Override
    public void onConfigurationSkip(ITestResult result) {}

    private static String nameOf(ITestNGMethod test) {
        return test.getRealClass().getName() + "#" + test.getMethodName();
    }

    private void begin(ITestResult result, String name) {
        String id = "testng:" + RUNS.incrementAndGet();
        underWay.put(result, id);
        TestRun.begin(id, null, name);
    }

    private void end(ITestResult result) {
        String id = underWay.remove(result);
        if (id != null) {
            TestRun.end(id);
        }
    }
}
