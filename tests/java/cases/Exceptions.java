// stdout: opened
// stdout: closed
// stdout: refused: closed already
// stdout: finally
// stdout: after
// exit: 7
public class Exceptions {
    static class Door implements AutoCloseable {
        Door() {
            System.out.println("opened"); // covered
        }

        @Override
        public void close() {
            System.out.println("closed"); // covered
        }
    }

    static void refuse(boolean really) {
        if (really) { // branches 1/2
            throw new IllegalStateException("closed already"); // covered
        }
    }

    static void fail() {
        String text = null;
        text.length(); // missed
        System.out.println("not reached"); // missed
    }

    public static void main(String[] arguments) {
        try (Door door = new Door()) { // covered
            door.hashCode(); // covered
        } // nothing
        try {
            refuse(true); // missed
            System.out.println("not reached"); // missed
        } catch (IllegalStateException refused) { // covered
            System.out.println("refused: " + refused.getMessage()); // covered
        } finally {
            System.out.println("finally"); // covered
        }
        try {
            fail(); // missed
        } catch (NullPointerException expected) { // covered
            System.out.println("after"); // covered
        }
        System.exit(7); // missed
    }
}
