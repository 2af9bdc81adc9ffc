//! The classes of the JDK whose values are shown as their `toString` gives them, in releases 8 to 25.
//!
//! An object of a subclass has fields and a `toString` of its own, so it is no such value.

/// The fields of a class that make its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrintedClass {
    /// `BigDecimal`.
    Decimal,
    /// `BigInteger`.
    Integer,
    Date,
    Time,
    DateTime,
    /// A `LocalTime` or `LocalDateTime` in the field of this name, with an offset.
    WithOffset(&'static str),
    /// `ZonedDateTime`.
    Zoned,
    Instant,
    Duration,
    Period,
    Year,
    YearMonth,
    MonthDay,
    /// `ZoneOffset`.
    Offset,
    Uuid,
    Uri,
    Url,
    Locale,
    /// A string in the field of this name.
    Text(&'static str),
    /// `StringBuilder` and `StringBuffer`.
    Builder,
    /// Bytes of UTF-8 in the field `path`, and perhaps a string in the field `stringValue`.
    Path,
    /// A number in the field `value`.
    Number,
    /// A truth value, which the field `value` stores as a number.
    Truth,
    /// `Inet4Address`.
    Address,
}

impl PrintedClass {
    /// The index of a class by its internal name.
    pub fn index_of(name: &[u8]) -> Option<u8> {
        let found = CLASSES.iter().position(|(it, _)| it.as_bytes() == name)?;
        u8::try_from(found).ok()
    }

    pub fn at(index: u8) -> Option<Self> {
        CLASSES.get(usize::from(index)).map(|(_, class)| *class)
    }
}

/// The classes, each with its internal name.
const CLASSES: &[(&str, PrintedClass)] = &[
    ("java/math/BigDecimal", PrintedClass::Decimal),
    ("java/math/BigInteger", PrintedClass::Integer),
    ("java/time/LocalDate", PrintedClass::Date),
    ("java/time/LocalTime", PrintedClass::Time),
    ("java/time/LocalDateTime", PrintedClass::DateTime),
    ("java/time/OffsetTime", PrintedClass::WithOffset("time")),
    (
        "java/time/OffsetDateTime",
        PrintedClass::WithOffset("dateTime"),
    ),
    ("java/time/ZonedDateTime", PrintedClass::Zoned),
    ("java/time/Instant", PrintedClass::Instant),
    ("java/time/Duration", PrintedClass::Duration),
    ("java/time/Period", PrintedClass::Period),
    ("java/time/Year", PrintedClass::Year),
    ("java/time/YearMonth", PrintedClass::YearMonth),
    ("java/time/MonthDay", PrintedClass::MonthDay),
    ("java/time/ZoneOffset", PrintedClass::Offset),
    ("java/time/ZoneRegion", PrintedClass::Text("id")),
    ("java/util/UUID", PrintedClass::Uuid),
    ("java/util/Locale", PrintedClass::Locale),
    ("java/util/Currency", PrintedClass::Text("currencyCode")),
    ("java/util/regex/Pattern", PrintedClass::Text("pattern")),
    (
        "java/util/concurrent/atomic/AtomicInteger",
        PrintedClass::Number,
    ),
    (
        "java/util/concurrent/atomic/AtomicLong",
        PrintedClass::Number,
    ),
    (
        "java/util/concurrent/atomic/AtomicBoolean",
        PrintedClass::Truth,
    ),
    ("java/lang/StringBuilder", PrintedClass::Builder),
    ("java/lang/StringBuffer", PrintedClass::Builder),
    ("java/net/URI", PrintedClass::Uri),
    ("java/net/URL", PrintedClass::Url),
    ("java/net/Inet4Address", PrintedClass::Address),
    ("java/io/File", PrintedClass::Text("path")),
    ("sun/nio/fs/UnixPath", PrintedClass::Path),
    ("jdk/nio/zipfs/ZipPath", PrintedClass::Path),
    ("com/sun/nio/zipfs/ZipPath", PrintedClass::Path),
    ("jdk/internal/jrtfs/JrtPath", PrintedClass::Text("path")),
    ("sun/nio/cs/UTF_8", PrintedClass::Text("name")),
    ("sun/nio/cs/US_ASCII", PrintedClass::Text("name")),
    ("sun/nio/cs/ISO_8859_1", PrintedClass::Text("name")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_one_byte_indices_and_unique_names() {
        for (name, class) in CLASSES {
            let found = PrintedClass::index_of(name.as_bytes());
            assert_eq!(found.and_then(PrintedClass::at), Some(*class), "{name}");
            let same = CLASSES.iter().filter(|(other, _)| other == name);
            assert_eq!(same.count(), 1, "{name}");
        }
    }
}
