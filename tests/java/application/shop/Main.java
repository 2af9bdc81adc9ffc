package shop;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import lib.Library;

/** An application with a library, a plug-in of a child loader, a proxy, and a class that does not initialise. */
public class Main {
    static class Broken {
        static final int NUMBER = number();

        static int number() {
            throw new IllegalStateException("as the test wants it");
        }
    }

    public static void main(String[] arguments) throws Exception {
        try {
            new Broken();
        } catch (ExceptionInInitializerError expected) {
            // It stays loaded.
        }
        URL plugins = new File(arguments[0]).toURI().toURL();
        ClassLoader child = new URLClassLoader(new URL[] {plugins}, Main.class.getClassLoader());
        Runnable plugin = (Runnable) child.loadClass("plug.In").getConstructor().newInstance();
        Class<?>[] interfaces = {Runnable.class};
        Runnable proxy = (Runnable) Proxy.newProxyInstance(child, interfaces, (self, method, values) -> null);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("up");
        while (orders.readLine() != null) {
            Library.call();
            plugin.run();
            proxy.run();
            System.out.println(proxy.getClass().getName());
        }
    }
}
