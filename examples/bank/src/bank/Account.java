package bank;

/** An account: its balance never falls below what its kind allows. */
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

    /** How far below zero the balance may fall. */
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

    /** Interest of a year, in cents; no statement of this example asks for it. */
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
