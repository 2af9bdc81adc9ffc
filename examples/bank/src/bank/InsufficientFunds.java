package bank;

/** Thrown if a withdrawal exceeds the limit of the account. */
public final class InsufficientFunds extends Exception {
    private static final long serialVersionUID = 1L;

    private final long missing;

    InsufficientFunds(String account, long missing) {
        super(account + " is short of " + Money.format(missing));
        this.missing = missing;
    }

    /** Returns the number of missing cents. */
    public long missing() {
        return missing;
    }
}
