//! Parses the output of `git diff --unified=0`: the new and the old lines of files.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::lines::ChangedLines;

/// Returns the new lines of a difference, by file.
///
/// # Errors
/// As [`edits`].
pub fn parse(diff: &[u8]) -> Result<ChangedLines, String> {
    let mut changed = ChangedLines::new();
    for edit in edits(diff)? {
        let Some(path) = edit.new else { continue };
        for hunk in &edit.hunks {
            let (first, count) = hunk.new;
            changed.entry(path.clone()).or_default().add(first, count);
        }
    }
    Ok(changed)
}

/// Edits of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileEdit {
    /// The path before; absent for a new file.
    pub old: Option<PathBuf>,
    /// The path now; absent for a removed file.
    pub new: Option<PathBuf>,
    /// The changed lines.
    pub hunks: Vec<Hunk>,
}

/// A range of lines that replaces another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hunk {
    /// First old line and count. With count 0, the line before the new lines.
    pub old: (u32, u32),
    /// First new line and count.
    pub new: (u32, u32),
    /// True if any line may hold more than blanks and a comment.
    pub is_code: bool,
}

/// Parses a difference whose old paths begin with `a/`, and the new ones with `b/`.
///
/// # Errors
/// The line that does not fit the format.
pub fn edits(diff: &[u8]) -> Result<Vec<FileEdit>, String> {
    let mut edits: Vec<FileEdit> = Vec::new();
    let mut lines = diff.split(|byte| *byte == b'\n');
    while let Some(line) = lines.next() {
        let wrong = || String::from_utf8_lossy(line).into_owned();
        if line.starts_with(b"diff --git ") {
            edits.push(FileEdit::default());
        } else if let Some(name) = line.strip_prefix(b"--- ") {
            let edit = edits.last_mut().ok_or_else(wrong)?;
            edit.old = path(name, b"a/").ok_or_else(wrong)?;
        } else if let Some(name) = line.strip_prefix(b"+++ ") {
            let path = path(name, b"b/").ok_or_else(wrong)?;
            edits.last_mut().ok_or_else(wrong)?.new = path;
        } else if line.starts_with(b"@@ ") {
            let mut hunk = hunk(line).ok_or_else(wrong)?;
            // Content may look like the head of another file.
            let mut content = u64::from(hunk.old.1) + u64::from(hunk.new.1);
            while content > 0 {
                let Some(line) = lines.next() else { break };
                // `\ No newline at end of file` is no content.
                content -= u64::from(!line.starts_with(b"\\"));
                hunk.is_code |= is_code(line);
            }
            edits.last_mut().ok_or_else(wrong)?.hunks.push(hunk);
        }
    }
    Ok(edits)
}

/// Checks whether a removed or added line may hold more than blanks and a comment.
fn is_code(line: &[u8]) -> bool {
    let text = line.get(1..).unwrap_or_default().trim_ascii();
    !line.starts_with(b"\\") && !text.is_empty() && !text.starts_with(b"//")
}

/// Parses `@@ -1,2 +3,4 @@`.
fn hunk(line: &[u8]) -> Option<Hunk> {
    let text = String::from_utf8_lossy(line);
    let mut words = text.split(' ').skip(1);
    Some(Hunk {
        old: range(words.next()?.strip_prefix('-')?)?,
        new: range(words.next()?.strip_prefix('+')?)?,
        is_code: false,
    })
}

/// Parses `3,4`, or `3` for `3,1`.
fn range(text: &str) -> Option<(u32, u32)> {
    let (first, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((first.parse().ok()?, count.parse().ok()?))
}

/// Parses the path behind `--- ` or `+++ `, plain or quoted with escapes. Returns
/// `Some(None)` for `/dev/null`, which stands for a missing file.
#[expect(
    clippy::option_option,
    reason = "the outer `None` is an error, the inner one a missing file"
)]
fn path(name: &[u8], prefix: &[u8]) -> Option<Option<PathBuf>> {
    if name == b"/dev/null" {
        return Some(None);
    }
    let name = match name.strip_prefix(b"\"") {
        Some(quoted) => unquoted(quoted)?,
        // A tab ends a name with blanks.
        None => name.strip_suffix(b"\t").unwrap_or(name).to_vec(),
    };
    let path = name.strip_prefix(prefix)?.to_vec();
    Some(Some(PathBuf::from(OsString::from_vec(path))))
}

/// Resolves git's escapes up to the closing quotation mark.
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
    fn old_lines_are_found_with_their_kind() {
        let diff = b"diff --git a/A.java b/B.java\n--- a/A.java\n+++ b/B.java\n\
            @@ -2 +2,2 @@\n-old\n+new\n+  // x\n@@ -9,0 +10 @@\n+  // y\n@@ -11 +11,0 @@\n-\n\
            diff --git a/x.bin b/x.bin\nBinary files a/x.bin and b/x.bin differ\n";
        let edits = edits(diff).unwrap();
        let hunk = |old, new, is_code| Hunk { old, new, is_code };
        let expected = FileEdit {
            old: Some("A.java".into()),
            new: Some("B.java".into()),
            hunks: vec![
                hunk((2, 1), (2, 2), true),
                hunk((9, 0), (10, 1), false),
                hunk((11, 1), (11, 0), false),
            ],
        };
        assert_eq!(edits, [expected, FileEdit::default()]);
    }

    #[test]
    fn malformed_difference_is_refused() {
        for wrong in ["+++ c/A", "--- b/A", "@@ -x +1 @@", "+++ \"b/\\3"] {
            let diff = format!("diff --git a/A b/A\n{wrong}\n");
            assert_eq!(parse(diff.as_bytes()).unwrap_err(), wrong);
        }
        assert_eq!(parse(b"+++ b/A\n").unwrap_err(), "+++ b/A");
        assert!(parse(b"").unwrap().is_empty());
    }
}
