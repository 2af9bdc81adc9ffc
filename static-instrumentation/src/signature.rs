//! Removes signatures: an instrumented jar differs from the signed one (JAR File Specification,
//! "Signed JAR File").

/// Checks whether an entry belongs to a signature: the signature file, or a signature block.
pub fn is_signature(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let Some(file) = upper.strip_prefix("META-INF/") else {
        return false;
    };
    let ending = [".SF", ".RSA", ".DSA", ".EC"];
    !file.contains('/')
        && (file.starts_with("SIG-") || ending.iter().any(|ending| file.ends_with(ending)))
}

/// Returns the manifest without digests. Sections that held nothing else are removed as well.
pub fn without_digests(manifest: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(manifest.len());
    let mut section = Section::default();
    let mut is_main = true;
    for line in manifest.split_inclusive(|byte| *byte == b'\n') {
        if line.iter().all(|byte| matches!(byte, b'\r' | b'\n')) {
            section.finish(is_main, line, &mut out);
            is_main = false;
        } else {
            section.line(line);
        }
    }
    section.finish(is_main, b"", &mut out);
    out
}

/// One section: its lines without digests.
#[derive(Default)]
struct Section {
    lines: Vec<u8>,
    /// Counts of kept and dropped attributes, without the section's name.
    kept: usize,
    dropped: usize,
    dropping: bool,
}

impl Section {
    fn line(&mut self, line: &[u8]) {
        if !line.starts_with(b" ") {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            self.dropping = is_digest(name);
            self.dropped += usize::from(self.dropping);
            self.kept += usize::from(!self.dropping && !name.eq_ignore_ascii_case(b"Name"));
        }
        if !self.dropping {
            self.lines.extend_from_slice(line);
        }
    }

    fn finish(&mut self, is_main: bool, end: &[u8], out: &mut Vec<u8>) {
        let section = std::mem::take(self);
        if is_main || section.kept > 0 || section.dropped == 0 {
            out.extend_from_slice(&section.lines);
            out.extend_from_slice(end);
        }
    }
}

/// Checks for `SHA-256-Digest`, `SHA-256-Digest-Manifest`, and those of a language.
fn is_digest(attribute: &[u8]) -> bool {
    let name = attribute.to_ascii_lowercase();
    name.ends_with(b"-digest") || name.windows(8).any(|part| part == b"-digest-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_files_are_distinguished_from_others() {
        for name in [
            "META-INF/A.SF",
            "META-INF/a.rsa",
            "meta-inf/B.EC",
            "META-INF/SIG-X",
            "META-INF/C.DSA",
        ] {
            assert!(is_signature(name), "{name}");
        }
        for name in [
            "META-INF/MANIFEST.MF",
            "META-INF/x/A.SF",
            "a/A.SF",
            "META-INF/A.SF.txt",
        ] {
            assert!(!is_signature(name), "{name}");
        }
    }

    #[test]
    fn manifest_loses_its_digests_and_nothing_else() {
        let manifest = b"Manifest-Version: 1.0\r\nMain-Class: a.Main\r\n\r\n\
            Name: a/Main.class\r\nSHA-256-Digest: abc\r\n def\r\n\r\n\
            Name: b/B.class\r\nSealed: true\r\nSHA1-Digest: abc\r\n\r\n\
            Name: c/\r\n\r\n";
        let expected = "Manifest-Version: 1.0\r\nMain-Class: a.Main\r\n\r\n\
            Name: b/B.class\r\nSealed: true\r\n\r\n\
            Name: c/\r\n\r\n";
        assert_eq!(
            String::from_utf8(without_digests(manifest)).unwrap(),
            expected
        );
    }

    #[test]
    fn manifest_without_a_last_line_end_is_kept() {
        assert_eq!(
            without_digests(b"Manifest-Version: 1.0\nA: b"),
            b"Manifest-Version: 1.0\nA: b"
        );
    }
}
