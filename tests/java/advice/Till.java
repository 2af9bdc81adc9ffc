import java.io.IOException;

/** Calls methods of each kind, and prints their results. */
public class Till {
    interface Tax {
        long of(long amount);
    }

    static String owner = "ann";
    private int drawer = 7;
    private int tries;

    private long net(long amount) {
        return amount - 1;
    }

    static String label(String text, int number) {
        return text + number;
    }

    void count(int by) {
        drawer += by;
    }

    String flaky(String text) throws IOException {
        tries++;
        if (tries < 3) throw new IOException("try " + tries);
        return text + " after " + tries;
    }

    @Override
    public int hashCode() {
        return super.hashCode() & 0;
    }

    String pay(long amount, Tax tax) {
        count(1);
        long sum = tax.of(amount) + net(amount);
        String text = label("a", 3) + " " + sum + " " + drawer + " " + Math.max(1.5, 2.5);
        try {
            return text + " " + flaky("got");
        } catch (IOException failed) {
            return text + " " + failed.getMessage();
        }
    }

    public static void main(String[] arguments) {
        Till till = new Till();
        System.out.println(till.pay(10, amount -> amount * 2) + " " + till.hashCode());
    }
}
