import java.sql.SQLException;
import java.sql.Statement;

/** What the plugins of this folder are shown; compiled with `javac --release 8 -g` into the class file beside it. */
public abstract class Sampled implements Statement {
    private int balance;

    @Override
    public boolean execute(String sql) throws SQLException {
        if (sql.isEmpty()) {
            throw new SQLException("empty");
        }
        return sql.startsWith("select");
    }

    static int[] each(Statement statement, String[] all) throws SQLException {
        int[] counts = new int[all.length];
        for (int at = 0; at < all.length; at++) {
            counts[at] = statement.executeUpdate(all[at]);
        }
        return counts;
    }

    static String name(int kind) {
        switch (kind) {
            case 0:
                return "none";
            case 1:
            case 2:
                return "few";
            default:
                return kind < 0 ? null : Integer.toString(kind);
        }
    }

    static int number(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException | NullPointerException none) {
            return 0;
        } finally {
            System.nanoTime();
        }
    }

    @Deprecated
    double find(long id, String text, double scale) {
        return balance > 0 && id != 0 ? scale : text.length();
    }

    void close(boolean ends) {
        Runnable end = () -> System.exit(balance);
        if (ends) {
            end.run();
        }
        synchronized (this) {
            balance = 0;
        }
    }

    static native long later(Sampled sampled, long time);

    abstract int more();
}
