/** An interface with code in it, as from version 52 on. */
public interface Defaults {
    Defaults ONE = make(1);

    static Defaults make(final int number) {
        return new Defaults() {
            public int number() {
                return number;
            }
        };
    }

    int number();

    default int twice() {
        return number() > 1 ? number() * 2 : number() + number();
    }

    static void main(String[] arguments) {
        for (int number = 0; number < 100_000; number++) {
            if (make(number).twice() != 2 * number) {
                throw new IllegalStateException();
            }
        }
        System.out.println(ONE.twice());
    }
}
