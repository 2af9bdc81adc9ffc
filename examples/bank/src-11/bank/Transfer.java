package bank;

/** A transfer of money. On Java 16 and newer, a record of the same name replaces this class. */
public final class Transfer {
    private final String from;
    private final String to;
    private final long cents;

    public Transfer(String from, String to, long cents) {
        this.from = from;
        this.to = to;
        this.cents = cents;
    }

    public String from() {
        return from;
    }

    public String to() {
        return to;
    }

    public long cents() {
        return cents;
    }

    public boolean large() {
        return cents >= 100_000;
    }
}
