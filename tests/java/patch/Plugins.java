import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/**
 * Prints "up", then loads the class that each line of its standard input names in a loader of its own, and prints
 * its answer. The arguments are the archive of the parent loader and that of the loader.
 */
public class Plugins {
    public static void main(String[] arguments) throws Exception {
        ClassLoader shared = new URLClassLoader(new URL[] {url(arguments[0])});
        ClassLoader plugins = new URLClassLoader(new URL[] {url(arguments[1])}, shared);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("up");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(Class.forName(line, true, plugins).getMethod("answer").invoke(null));
        }
    }

    private static URL url(String file) throws Exception {
        return Path.of(file).toUri().toURL();
    }
}
