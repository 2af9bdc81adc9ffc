package bank;

/** What an account may do. */
public enum Kind {
    CHECKING, SAVINGS, FROZEN
}
