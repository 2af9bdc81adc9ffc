// The handler that leaves the monitor is left out.
package targets;

public class Synchronized { // missed
    static final Object LOCK = new Object(); // covered

    static void block() {
        synchronized (LOCK) { // covered
            nop(); // covered
        } // covered
        nop(); // covered
    } // covered

    static synchronized void nop() {
    } // covered

    static void never() {
        synchronized (LOCK) { // missed
            nop(); // missed
        } // missed
    } // missed

    public static void main(String[] arguments) {
        block(); // covered
    } // covered
}
