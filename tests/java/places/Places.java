import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;

/** Runs a class of each of two folders, in a loader of its own. */
public class Places {
    public static void main(String[] folders) throws Exception {
        for (String folder : folders) {
            URL[] place = {new File(folder).toURI().toURL()};
            ClassLoader loader = new URLClassLoader(place, null);
            Class<?> shared = loader.loadClass("p.Shared");
            shared.getMethod("go", boolean.class).invoke(null, folder.equals(folders[0]));
        }
    }
}
