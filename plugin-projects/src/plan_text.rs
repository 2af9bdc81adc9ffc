//! Formats a plugin's plan for a class as text.

use std::fmt::Write;

use host::{Explained, Explanation};
use rewriter::ClassFile;

/// Formats the class with its edits (+), notes (#) and the reasons for methods that are left alone
/// (!), each at its location.
#[must_use]
pub fn plan_text(class: &ClassFile<'_>, explanation: &Explanation) -> String {
    let remarks: Vec<_> = explanation.remarks.iter().map(Explained::remark).collect();
    let class_edits = explanation.class_edits.iter();
    let class_edits: Vec<_> = class_edits.map(|(by, edit)| (by.as_str(), edit)).collect();
    let mut text = String::new();
    if let Some((by, bytes)) = &explanation.replaced {
        let by = escape::line(by);
        text = format!("+ {by}: another class file, of {bytes} bytes\n");
    }
    for (by, helper) in &explanation.helpers {
        let (by, name, bytes) = (
            escape::line(by),
            escape::line(&helper.name),
            helper.bytes.len(),
        );
        let _ = writeln!(text, "+ {by}: helper class {name}, of {bytes} bytes");
    }
    let skipped = &explanation.skipped;
    let written = class_text::plan(class, &class_edits, &remarks, skipped, &mut text);
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
    text
}
