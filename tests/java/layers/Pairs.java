import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;

/** Prints the results of {@code Layered} in each of the folders. */
public final class Pairs {
    public static void main(String[] folders) throws Exception {
        for (String folder : folders) {
            URL[] path = {new File(folder).toURI().toURL()};
            try (URLClassLoader loader = new URLClassLoader(path, null)) {
                Method run = loader.loadClass("Layered").getMethod("run", int.class);
                for (int number : new int[] {1, 2, 6}) {
                    System.out.println(new File(folder).getName() + " " + number + ": " + run.invoke(null, number));
                }
            }
        }
    }
}
