package bank;

/** An account, whose balance never falls below the limit of its kind. */
public final class Account {
    private final String owner;
    private final Kind kind;
    private long balance;

    Account(String owner, Kind kind) {
        this.owner = owner;
        this.kind = kind;
    }

    public String owner() {
        return owner;
    }

    public Kind kind() {
        return kind;
    }

    public synchronized long balance() {
        return balance;
    }

    synchronized void deposit(long cents) {
        if (cents <= 0) {
            throw new IllegalArgumentException("a deposit must be positive");
        }
        balance += cents;
    }

    synchronized void withdraw(long cents) throws InsufficientFunds {
        long available = balance + overdraft();
        if (cents > available) {
            throw new InsufficientFunds(owner, cents - available);
        }
        balance -= cents;
    }

    /** Returns the amount by which the balance may be below zero. */
    private long overdraft() {
        switch (kind) {
            case CHECKING:
                return 50_000;
            case SAVINGS:
                return 0;
            case FROZEN:
                return -balance;
            default:
                throw new AssertionError(kind);
        }
    }

    /** Computes the interest of a year, in cents. No statement of this example calls it. */
    long interest(double rate) {
        if (kind != Kind.SAVINGS || balance <= 0) {
            return 0;
        }
        return Math.round(balance * rate);
    }

    @Override
    public String toString() {
        return owner + " (" + kind + "): " + Money.format(balance);
    }
}
