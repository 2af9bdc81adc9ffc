/** Reads its settings, one of them repeatedly. */
public class Configured {
    public static void main(String[] arguments) {
        System.setProperty("shop.currency", "EUR");
        System.out.println("paid in " + System.getProperty("shop.currency"));
        int threads = Integer.getInteger("shop.threads", 4);
        if (Boolean.getBoolean("shop.debug")) {
            System.out.println(threads + " threads");
        }
        for (int basket = 0; basket < 1_000; basket++) {
            discount(basket);
        }
    }

    static int discount(int basket) {
        return basket * Integer.parseInt(System.getProperty("shop.discount", "3")) / 100;
    }
}
