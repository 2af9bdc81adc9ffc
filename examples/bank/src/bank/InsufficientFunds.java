package bank;

/** A withdrawal asked for more than the account may give. */
public final class InsufficientFunds extends Exception {
    private static final long serialVersionUID = 1L;

    private final long missing;

    InsufficientFunds(String account, long missing) {
        super(account + " is short of " + Money.format(missing));
        this.missing = missing;
    }

    /** How many cents are missing. */
    public long missing() {
        return missing;
    }
}
