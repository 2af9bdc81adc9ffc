package org.codehaus.plexus.classworlds.launcher;

import java.io.File;
import java.net.URL;
import org.codehaus.plexus.classworlds.realm.ClassRealm;

/** Maven's own JVM: runs a plugin in a loader of its own, which forks a JVM for the tests of each module. */
public class Launcher {
    public static void main(String[] arguments) throws Exception {
        URL plugin = new File(System.getProperty("plugin.jar")).toURI().toURL();
        ClassRealm realm = new ClassRealm(plugin);
        Object surefire = realm.loadClass("org.apache.maven.Surefire").getDeclaredConstructor().newInstance();
        ((Runnable) surefire).run();
    }
}
