package io.github.classhook.tests;

import java.util.Optional;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Reports the tests that the JUnit platform runs to the agent. JUnit finds this class as a service.
 *
 * <p>All runs of a parameterized or repeated test count for its method, as do the tests of a test factory.
 */
public final class JUnitListener implements TestExecutionListener {
    @Override
    public void executionStarted(TestIdentifier test) {
        String name = nameOf(test);
        if (name != null) {
            TestRun.begin(test.getUniqueId(), test.getParentId().orElse(null), name);
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (nameOf(test) != null) {
            TestRun.end(test.getUniqueId());
        }
    }

    /** The name of the test; null for the engine, and for items that count for their parent. */
    private static String nameOf(TestIdentifier test) {
        Optional<TestSource> source = test.getSource();
        if (!source.isPresent()) {
            return null;
        }
        if (source.get() instanceof MethodSource) {
            MethodSource method = (MethodSource) source.get();
            return method.getClassName() + "#" + method.getMethodName();
        }
        if (source.get() instanceof ClassSource) {
            return ((ClassSource) source.get()).getClassName();
        }
        return test.isTest() ? test.getLegacyReportingName() : null;
    }
}
