package bank;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;

/** The accounts by owner. */
public final class Bank {
    private final Map<String, Account> accounts = new TreeMap<>();
    private int failures;

    public Account open(String owner, Kind kind) {
        Account account = new Account(owner, kind);
        if (accounts.putIfAbsent(owner, account) != null) {
            throw new IllegalStateException(owner + " has an account already");
        }
        return account;
    }

    public Account account(String owner) {
        Account account = accounts.get(owner);
        if (account == null) {
            throw new IllegalArgumentException("nobody is called " + owner);
        }
        return account;
    }

    public Collection<Account> accounts() {
        return accounts.values();
    }

    public int failures() {
        return failures;
    }

    /** Moves money, changing both balances or neither. */
    public Transfer transfer(String from, String to, long cents) throws InsufficientFunds {
        Account source = account(from);
        Account target = account(to);
        boolean done = false;
        try {
            source.withdraw(cents);
            target.deposit(cents);
            done = true;
            return new Transfer(from, to, cents);
        } finally {
            if (!done) {
                failures++;
            }
        }
    }
}
