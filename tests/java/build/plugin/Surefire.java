package org.apache.maven;

import java.io.File;

/** Forks a JVM per module, with its test classes, its classes and the library on the class path. */
public class Surefire implements Runnable {
    @Override
    public void run() {
        String library = System.getProperty("library.jar");
        test("com.acme.SumTest", library, "core/target/test-classes", "core/target/classes");
        test("com.acme.PageTest", library, "web/target/test-classes", "web/target/classes", "core/target/core.jar");
    }

    static void test(String test, String... path) {
        String java = System.getProperty("java.home") + "/bin/java";
        ProcessBuilder fork = new ProcessBuilder(java, "-cp", String.join(File.pathSeparator, path), "org.junit.Runner", test);
        try {
            int code = fork.inheritIO().start().waitFor();
            if (code != 0) {
                throw new IllegalStateException(test + " failed: " + code);
            }
        } catch (java.io.IOException | InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }
}
