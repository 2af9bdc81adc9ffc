package p;

import java.net.URL;
import java.net.URLClassLoader;

/** One class in three loaders, of which each executes another method. */
public class Loaders {
    public static void main(String[] args) throws Exception {
        URL[] here = {Loaders.class.getProtectionDomain().getCodeSource().getLocation()};
        ClassLoader outside = ClassLoader.getSystemClassLoader().getParent();
        ClassLoader[] loaders = {
            Loaders.class.getClassLoader(), new URLClassLoader(here, outside), new URLClassLoader(here, outside),
        };
        String[] methods = {"ofTheProgram", "ofTheFirst", "ofTheSecond"};
        for (int i = 0; i < loaders.length; i++) {
            Class<?> shared = Class.forName("p.Shared", true, loaders[i]);
            shared.getMethod(methods[i]).invoke(null);
        }
    }
}
