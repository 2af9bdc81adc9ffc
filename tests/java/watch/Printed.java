import java.io.File;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.Currency;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/** Values of the JDK, each beside the text of its own toString. */
final class Printed {
    /** A number of the program's own: its toString is not that of the JDK. */
    static final class Price extends BigDecimal {
        private static final long serialVersionUID = 1;

        Price(String text) {
            super(text);
        }

        @Override
        public String toString() {
            throw new AssertionError("toString was called");
        }
    }

    private static final int RANDOM = 60;
    private static final boolean IS_8 = System.getProperty("java.specification.version").equals("1.8");

    /** The value is described before its toString is called, which may change fields. */
    private static void show(Object value) {
        Object twin = value;
        Opened.show(value.getClass().getSimpleName(), value, null);
        Opened.show(value.getClass().getSimpleName(), twin, value.toString());
    }

    private static void numbers() {
        String[] decimals = {
            "0", "0.00", "0E-7", "0E+3", "12.50", "-0.05", "-1.23E+3", "0.000001", "1E-7", "1.23E-8", "100", "1E+2",
            "-9223372036854775808", "-9223372036854775807", "9223372036854775808.123", "1E-2147483647", "-7E+2147483647",
            "123456789012345678901234567890.12345678901234567890", "0.000000000000000000000000001",
        };
        for (String text : decimals) {
            show(new BigDecimal(text));
        }
        show(new BigDecimal(1.1));
        show(BigDecimal.valueOf(Long.MIN_VALUE, 3));
        show(new BigDecimal(BigInteger.valueOf(Long.MIN_VALUE), -5));
        show(BigInteger.ZERO);
        show(BigInteger.ONE.negate());
        show(BigInteger.TEN.pow(300));
        show(BigInteger.ONE.shiftLeft(4_096 - 1_000));
        Random random = new Random(7);
        for (int round = 0; round < RANDOM; round++) {
            BigInteger number = new BigInteger(1 + random.nextInt(700), random);
            show(random.nextBoolean() ? number : number.negate());
            show(new BigDecimal(number.negate(), random.nextInt(80) - 40));
            show(BigDecimal.valueOf(random.nextLong() >> random.nextInt(64), random.nextInt(30) - 10));
        }
        show(new AtomicInteger(-7));
        show(new AtomicLong(Long.MIN_VALUE));
        show(new AtomicBoolean(true));
    }

    private static void times() {
        show(Instant.EPOCH);
        show(Instant.MIN);
        show(Instant.MAX);
        show(LocalDate.MIN);
        show(LocalDate.MAX);
        show(LocalDate.of(0, 2, 29));
        show(LocalTime.MIDNIGHT);
        show(LocalTime.MAX);
        show(LocalDateTime.of(-12, 3, 4, 5, 6));
        show(Duration.ZERO);
        show(Duration.ofDays(3));
        show(Period.ZERO);
        show(Period.of(1, 0, -30));
        show(Period.ofMonths(14));
        show(MonthDay.of(2, 9));
        show(ZoneOffset.UTC);
        show(ZoneOffset.ofHoursMinutesSeconds(-5, -30, -1));
        show(ZoneId.of("Europe/Berlin"));
        show(ZoneId.of("UTC"));
        show(DayOfWeek.FRIDAY);
        ZoneId[] zones = {ZoneId.of("America/New_York"), ZoneOffset.UTC, ZoneOffset.ofHours(3), ZoneId.of("GMT+2")};
        Random random = new Random(8);
        for (int round = 0; round < RANDOM; round++) {
            long second = (random.nextLong() >> 8 + random.nextInt(40)) % 31_000_000_000_000_000L;
            int[] nanos = {0, random.nextInt(1_000) * 1_000_000, random.nextInt(1_000_000) * 1_000, random.nextInt(1_000_000_000)};
            Instant instant = Instant.ofEpochSecond(second, nanos[round % 4]);
            ZoneId zone = zones[random.nextInt(zones.length)];
            ZonedDateTime zoned = instant.atZone(zone);
            show(instant);
            show(zoned);
            show(zoned.withFixedOffsetZone());
            OffsetDateTime offset = zoned.toOffsetDateTime();
            show(offset);
            show(offset.toOffsetTime());
            LocalDateTime local = zoned.toLocalDateTime();
            show(local);
            show(local.withSecond(0).withNano(0).toLocalTime());
            show(local.toLocalDate());
            show(Year.from(local));
            show(YearMonth.from(local));
            Duration duration = Duration.ofSeconds(second >> 20, nanos[(round + 1) % 4]);
            if (!IS_8 || !duration.isNegative()) { // JDK 8 prints a minute too much for some
                show(duration);
            }
        }
    }

    private static void places() throws Exception {
        show(UUID.fromString("00000000-0001-0002-0003-00000000000f"));
        show(UUID.nameUUIDFromBytes(new byte[] {1, 2}));
        String[] uris = {
            "http://me@example.org:8080/a/b?c=d#e", "mailto:a@b.c", "relative/path", "urn:isbn:12", "file:///tmp/x", "http://[::1]/x", "#f", "",
        };
        for (String text : uris) {
            show(new URI(text));
        }
        URI base = new URI("http://me@example.org:8080/a/b/../c?q=1");
        show(base.normalize());
        show(base.resolve("x/y?z#f"));
        show(new URI("http://example.org/a").relativize(new URI("http://example.org/a/b?c")));
        show(new URI("http", "registry_name", "/p", "q", "f"));
        show(new URI("http", "u", "::1", 80, "/p", null, null).resolve("other"));
        show(new URL("http://example.org:80/a?b=c#d"));
        show(new URL("file:/tmp/x"));
        show(new URL("jar:file:/tmp/x.jar!/a/B.class"));
        show(Paths.get("/tmp", "a b", "c.txt"));
        show(Paths.get(""));
        show(Paths.get("relative").resolve("x/../y").normalize());
        show(new File("/tmp/../x"));
        show(Pattern.compile("a.*[bc]\\d\"'"));
        show(Currency.getInstance("EUR"));
        show(Locale.ROOT);
        show(Locale.GERMANY);
        show(Locale.ENGLISH);
        show(new Locale.Builder().setLanguage("sr").setScript("Latn").setRegion("RS").build());
        show(new Locale.Builder().setLanguage("zh").setScript("Hant").build());
        show(new Locale("de", "", "POSIX"));
        show(StandardCharsets.UTF_8);
        show(TimeUnit.DAYS);
        show(InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, 1}));
        show(InetAddress.getByAddress("host.example", new byte[] {127, 0, 0, 1}));
    }

    static void all() throws Exception {
        numbers();
        times();
        places();
        Opened.show("builder", new StringBuilder("a\u00e4\u20ac").append(1), "\"a\u00e4\u20ac1\"");
        Opened.show("buffer", new StringBuffer("plain"), "\"plain\"");
        Opened.show("list", Arrays.asList(new BigDecimal("1.50"), LocalDate.of(2026, 1, 2)), "[1.50, 2026-01-02]");
        Price price = new Price("1.50");
        Opened.show("own", price, null);
        Opened.show("long", BigInteger.TEN.pow(1_100), "1" + zeros(1_020) + "\u2026");
    }

    private static String zeros(int count) {
        char[] zeros = new char[count];
        Arrays.fill(zeros, '0');
        return new String(zeros);
    }

    private Printed() {}
}
