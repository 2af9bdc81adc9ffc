import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Paths;

/** Loads the class {@code Large} over and over, each time by another loader, and links it. */
public class Linking {
    public static void main(String[] arguments) throws Exception {
        URL[] here = {Paths.get(System.getProperty("java.class.path")).toUri().toURL()};
        System.out.println("begun");
        for (int round = 0; true; round++) {
            if (round % 4 == 0) {
                System.gc(); // so that few of them are there at a time
            }
            URLClassLoader loader = new URLClassLoader(here, null);
            loader.loadClass("Large");
            Class.forName("Large", true, loader);
        }
    }
}
