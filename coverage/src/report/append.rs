//! Appends numbers and escaped text: a report of a large program contains millions of them.

/// Appends all parts.
pub(super) fn push_all<const N: usize>(out: &mut String, parts: [&str; N]) {
    parts.iter().for_each(|part| out.push_str(part));
}

/// Appends `1234`.
pub(super) fn decimal(number: impl itoa::Integer, out: &mut String) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// Appends the pieces with a number between each two.
pub(super) fn filled(pieces: &[&str], numbers: &[u32], out: &mut String) {
    let mut buffer = itoa::Buffer::new();
    let mut numbers = numbers.iter();
    for piece in pieces {
        out.push_str(piece);
        if let Some(number) = numbers.next() {
            out.push_str(buffer.format(*number));
        }
    }
}

/// Appends `1,234`.
pub(super) fn grouped(number: u32, out: &mut String) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number);
    let (first, mut rest) = digits.split_at((digits.len() - 1) % 3 + 1);
    out.push_str(first);
    while !rest.is_empty() {
        let (group, behind) = rest.split_at(3);
        out.push(',');
        out.push_str(group);
        rest = behind;
    }
}

/// Appends `text`. `other` writes each character that XML, HTML or JavaScript requires to escape, or that is not
/// printable ASCII.
pub(super) fn escaped(mut text: &str, out: &mut String, other: impl Fn(char, &mut String)) {
    loop {
        let plain = text.bytes().take_while(|&byte| is_plain(byte)).count();
        let (run, behind) = text.split_at(plain);
        out.push_str(run);
        let mut behind = behind.chars();
        let Some(character) = behind.next() else {
            return;
        };
        other(character, out);
        text = behind.as_str();
    }
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let shown = |number| {
            let mut out = String::new();
            grouped(number, &mut out);
            out.push(' ');
            decimal(number, &mut out);
            out
        };
        assert_eq!(shown(0), "0 0");
        assert_eq!(shown(999), "999 999");
        assert_eq!(shown(1_000), "1,000 1000");
        assert_eq!(shown(23_045), "23,045 23045");
        assert_eq!(shown(u32::MAX), "4,294,967,295 4294967295");
    }

    #[test]
    fn numbers_between_pieces() {
        let mut out = String::new();
        filled(&["a", "b", "c"], &[0, 12], &mut out);
        assert_eq!(out, "a0b12c");
    }

    #[test]
    fn special_characters_are_escaped_by_the_caller() {
        let mut out = String::new();
        escaped("a<é\tb'", &mut out, |character, out| {
            out.push_str(&format!("[{character}]"));
        });
        assert_eq!(out, "a[<][é][\t]b[']");
    }
}
