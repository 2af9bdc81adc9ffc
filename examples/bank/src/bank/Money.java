package bank;

/** Amounts are whole cents in a {@code long}. */
final class Money {
    private Money() {
    }

    static String format(long cents) {
        String sign = cents < 0 ? "-" : "";
        long absolute = Math.abs(cents);
        return sign + absolute / 100 + "." + absolute % 100 / 10 + absolute % 10;
    }

    static long parse(String text) {
        int point = text.indexOf('.');
        if (point < 0) {
            return Long.parseLong(text) * 100;
        }
        String cents = text.substring(point + 1);
        if (cents.length() != 2) {
            throw new NumberFormatException("expected two digits after the point: " + text);
        }
        return Long.parseLong(text.substring(0, point)) * 100 + Long.parseLong(cents);
    }
}
