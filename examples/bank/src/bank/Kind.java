package bank;

/** The kind of an account, which determines its limit. */
public enum Kind {
    CHECKING, SAVINGS, FROZEN
}
