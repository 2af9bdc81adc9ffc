//! The plugins' requests as lines of text.

use host::{Explained, Explanation};

/// Formats class edits, then edits and notes by place, without the host's own remarks.
pub fn explained(explanation: &Explanation) -> Vec<String> {
    let class_edits = explanation.class_edits.iter();
    let remarks = explanation.remarks.iter();
    let remarks = remarks.filter_map(|remark| match remark {
        Explained::Edit { site, text, .. } => Some(format!("{site}: {text}")),
        Explained::Note { plugin, site, text } if plugin != "classhook" => {
            Some(format!("{site}: note {text}"))
        }
        Explained::Note { .. } => None,
    });
    let replaced = explanation.replaced.iter();
    let helpers = explanation.helpers.iter();
    let helpers = helpers.map(|(_, helper)| format!("helper class {}", helper.name));
    replaced
        .map(|(_, bytes)| format!("another class file of {bytes} bytes"))
        .chain(helpers)
        .chain(class_edits.map(|(_, edit)| edit.to_string()))
        .chain(remarks)
        .collect()
}
