//! The output of `git diff --unified=0`: which lines of which files are new.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::lines::ChangedLines;

/// Reads a difference whose new paths begin with `b/`.
///
/// # Errors
/// The line that is none of such an output.
pub fn parse(diff: &[u8]) -> Result<ChangedLines, String> {
    let mut changed = ChangedLines::new();
    let mut path: Option<PathBuf> = None;
    let mut lines = diff.split(|byte| *byte == b'\n');
    while let Some(line) = lines.next() {
        let wrong = || String::from_utf8_lossy(line).into_owned();
        if line.starts_with(b"diff --git ") {
            path = None;
        } else if let Some(name) = line.strip_prefix(b"+++ ") {
            path = new_path(name).ok_or_else(wrong)?;
        } else if line.starts_with(b"@@ ") {
            let (removed, first, added) = hunk(line).ok_or_else(wrong)?;
            if let Some(path) = &path {
                changed.entry(path.clone()).or_default().add(first, added);
            }
            // Their content may look like the head of another file.
            let mut content = u64::from(removed) + u64::from(added);
            while content > 0 {
                let Some(line) = lines.next() else { break };
                // `\ No newline at end of file` is no content.
                content -= u64::from(!line.starts_with(b"\\"));
            }
        }
    }
    Ok(changed)
}

/// How many lines were removed, the first new line, and how many of them, of `@@ -1,2 +3,4 @@`.
fn hunk(line: &[u8]) -> Option<(u32, u32, u32)> {
    let text = String::from_utf8_lossy(line);
    let mut words = text.split(' ').skip(1);
    let (_, removed) = range(words.next()?.strip_prefix('-')?)?;
    let (first, added) = range(words.next()?.strip_prefix('+')?)?;
    Some((removed, first, added))
}

/// `3,4`, or `3` for `3,1`.
fn range(text: &str) -> Option<(u32, u32)> {
    let (first, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((first.parse().ok()?, count.parse().ok()?))
}

/// The path behind `+++ `: as it is, or in quotation marks with escapes; none of a file that was removed.
#[expect(
    clippy::option_option,
    reason = "no path is one thing, something else than a path another"
)]
fn new_path(name: &[u8]) -> Option<Option<PathBuf>> {
    if name == b"/dev/null" {
        return Some(None);
    }
    let name = match name.strip_prefix(b"\"") {
        Some(quoted) => unquoted(quoted)?,
        // A tab ends a name with blanks.
        None => name.strip_suffix(b"\t").unwrap_or(name).to_vec(),
    };
    let path = name.strip_prefix(b"b/")?.to_vec();
    Some(Some(PathBuf::from(OsString::from_vec(path))))
}

/// What git's escapes stand for, up to the closing quotation mark.
fn unquoted(text: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::new();
    let mut bytes = text.iter().copied();
    loop {
        let byte = bytes.next()?;
        match byte {
            b'"' => return Some(name),
            b'\\' => {
                let byte = match bytes.next()? {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    digit @ b'0'..=b'3' => {
                        let digits = [digit, bytes.next()?, bytes.next()?];
                        u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 8).ok()?
                    }
                    other => other,
                };
                name.push(byte);
            }
            byte => name.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn new_lines_of_each_file_are_found() {
        let diff = b"diff --git a/A.java b/A.java\nindex 1..2 100644\n--- a/A.java\n+++ b/A.java\n\
            @@ -2 +2,2 @@ class A {\n-old\n\\ No newline at end of file\n+new\n+++ b/Fake.java\n@@ -9,2 +9,0 @@\n-x\n-@@ -1 +1 @@\n\
            @@ -20,0 +20 @@\n+last\n\\ No newline at end of file\n\
            diff --git a/Gone.java b/Gone.java\n--- a/Gone.java\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
            diff --git a/old name b/new name\nsimilarity index 90%\nrename from old name\nrename to new name\n\
            --- a/old name\t\n+++ b/new name\t\n@@ -1 +1 @@\n-x\n+y\n\
            diff --git \"a/\\303\\251\\n\" \"b/\\303\\251\\n\"\nnew file mode 100644\n--- /dev/null\n\
            +++ \"b/\\303\\251\\n\\\"\"\n@@ -0,0 +1,3 @@\n+1\n+2\n+3\n";
        let changed = parse(diff).unwrap();
        let names: Vec<&Path> = changed.keys().map(PathBuf::as_path).collect();
        assert_eq!(
            names,
            [
                Path::new("A.java"),
                Path::new("new name"),
                Path::new("\u{e9}\n\"")
            ]
        );
        let lines = |name: &str| {
            let lines = &changed[Path::new(name)];
            (1..30)
                .filter(|line| lines.contains(*line))
                .collect::<Vec<u32>>()
        };
        assert_eq!(lines("A.java"), [2, 3, 20]);
        assert_eq!(lines("new name"), [1]);
        assert_eq!(lines("\u{e9}\n\""), [1, 2, 3]);
    }

    #[test]
    fn what_is_no_difference_is_refused() {
        assert_eq!(parse(b"+++ c/A\n").unwrap_err(), "+++ c/A");
        assert_eq!(parse(b"@@ -x +1 @@\n").unwrap_err(), "@@ -x +1 @@");
        assert_eq!(parse(b"+++ \"b/\\3\n").unwrap_err(), "+++ \"b/\\3");
        assert!(parse(b"").unwrap().is_empty());
    }
}
