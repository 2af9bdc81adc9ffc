/** Methods of all kinds for rules. */
class Faults {
    private final int balance;

    Faults(int balance) {
        this.balance = balance;
    }

    int balance() {
        return balance;
    }

    static long total(long[] values) {
        long sum = 0;
        for (long value : values) {
            sum += value;
        }
        return sum;
    }

    boolean isOpen() {
        return balance > 0 ? true : false;
    }

    String name(int kind) {
        switch (kind) {
            case 0:
                return "none";
            default:
                return String.valueOf(kind);
        }
    }

    void close() throws java.io.IOException {
        try {
            new java.io.File(name(1)).delete();
        } catch (SecurityException denied) {
            throw new java.io.IOException(denied);
        }
    }

    char letter() {
        return 'a';
    }

    double rate() {
        return 0.5;
    }

    int[] values() {
        return new int[0];
    }
}
