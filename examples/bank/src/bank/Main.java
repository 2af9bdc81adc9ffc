package bank;

import java.util.List;

/** Runs a fixed day of business, or the statements given as arguments. */
public final class Main {
    private static final List<String> DAY = List.of(
        "open ada CHECKING",
        "open bob SAVINGS",
        "open cyd FROZEN",
        "deposit ada 1200",
        "deposit bob 80.50",
        "transfer ada bob 1000.00",
        "transfer bob ada 2000.00",
        "transfer ada cyd 350",
        "transfer cyd ada 1",
        "transfer ada eve 5",
        "deposit bob 1.5",
        "rob bob 10");

    private final Bank bank = new Bank();
    private final Ledger ledger;

    private Main(Ledger ledger) {
        this.ledger = ledger;
    }

    public static void main(String[] arguments) {
        List<String> statements = arguments.length == 0 ? DAY : List.of(arguments);
        try (Ledger ledger = new Ledger()) {
            Main main = new Main(ledger);
            for (String statement : statements) {
                System.out.println(statement + " -> " + main.run(statement));
            }
            main.close();
        }
    }

    private String run(String statement) {
        String[] words = statement.split(" ");
        try {
            switch (words[0]) {
                case "open":
                    return bank.open(words[1], Kind.valueOf(words[2])).toString();
                case "deposit":
                    Account account = bank.account(words[1]);
                    account.deposit(Money.parse(words[2]));
                    return account.toString();
                case "transfer":
                    return transfer(words[1], words[2], Money.parse(words[3]));
                case "interest":
                    return Money.format(bank.account(words[1]).interest(Double.parseDouble(words[2])));
                default:
                    return "not understood";
            }
        } catch (InsufficientFunds refused) {
            return "refused: " + refused.getMessage();
        } catch (IllegalArgumentException | IllegalStateException wrong) {
            return "wrong: " + wrong.getMessage();
        }
    }

    private String transfer(String from, String to, long cents) throws InsufficientFunds {
        Transfer transfer = bank.transfer(from, to, cents);
        ledger.add(transfer);
        return transfer.large() && transfer.cents() > 0 ? "moved, and reported to the office" : "moved";
    }

    private void close() {
        long sum = 0;
        for (Account account : bank.accounts()) {
            System.out.println(account);
            sum += account.balance();
        }
        assert sum >= 0 : "the bank owes more than it has";
        System.out.println("moved " + Money.format(ledger.total()) + " in " + ledger.transfers().size()
            + " transfers, " + bank.failures() + " refused");
    }
}
