package bank;

/** A transfer of money. */
public record Transfer(String from, String to, long cents) {
    public boolean large() {
        return cents >= 100_000;
    }
}
