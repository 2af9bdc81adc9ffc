package classhook.runtime;

/** The name of a JVM's snapshot file, in which %p, %h, %t and %u are process, machine, time and user. */
final class FileName {
    /** Maximum length in bytes: a file name has at most 255, including a random number and the extension. */
    private static final int MAX_LENGTH = 200;

    private FileName() {}

    /** Returns the file name for a pattern, by default that of all files, or null if the pattern is invalid. */
    static String of(String pattern, long pid, long start, String host) {
        if (pattern == null) {
            return "classhook-" + pid + "-" + start;
        }
        if (pattern.isEmpty() || pattern.startsWith(".") || pattern.indexOf('/') >= 0) {
            return null;
        }
        StringBuilder name = new StringBuilder();
        for (int index = 0; index < pattern.length(); index++) {
            char character = pattern.charAt(index);
            if (character != '%') {
                name.append(character);
                continue;
            }
            index++;
            switch (index < pattern.length() ? pattern.charAt(index) : 0) {
                case 'p': name.append(pid); break;
                case 'h': name.append(harmless(host)); break;
                case 'u': name.append(harmless(System.getProperty("user.name"))); break;
                case 't': name.append(time(start)); break;
                case '%': name.append('%'); break;
                default: return null;
            }
        }
        return shortened(name);
    }

    private static String shortened(StringBuilder name) {
        while (Log.Payload.utf8(name.toString()).length > MAX_LENGTH) {
            int last = name.codePointBefore(name.length());
            name.setLength(name.length() - Character.charCount(last));
        }
        return name.toString();
    }

    /** Removes all characters from a text that a file name should not contain. */
    private static String harmless(String text) {
        StringBuilder out = new StringBuilder(text == null ? "" : text);
        for (int index = 0; index < out.length(); index++) {
            char character = out.charAt(index);
            if (character == '/' || Character.isISOControl(character) || Character.isWhitespace(character)) {
                out.setCharAt(index, '_');
            }
        }
        return out.toString();
    }

    /** Formats milliseconds since 1970 as 20261124T002239Z. */
    private static String time(long milliseconds) {
        long seconds = milliseconds / 1000;
        // Years start in March, in cycles of 400 with 146,097 days, so the leap day is the last day of a year.
        long shifted = seconds / 86400 + 719468;
        long day = shifted % 146097;
        long year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
        day -= 365 * year + year / 4 - year / 100;
        long month = (5 * day + 2) / 153;
        day -= (153 * month + 2) / 5 - 1;
        year += 400 * (shifted / 146097) + (month < 10 ? 0 : 1);
        long[] parts = {month < 10 ? month + 3 : month - 9, day, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60};
        StringBuilder out = new StringBuilder().append(year);
        for (int index = 0; index < parts.length; index++) {
            out.append(index == 2 ? "T" : "").append(parts[index] < 10 ? "0" : "").append(parts[index]);
        }
        return out.append('Z').toString();
    }
}
