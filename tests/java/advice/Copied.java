/** Calls a method that only its class and subclasses may call. */
public class Copied implements Cloneable {
    final int number = 7;

    Copied copy() throws CloneNotSupportedException {
        return (Copied) clone();
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("copied " + new Copied().copy().number);
    }
}
