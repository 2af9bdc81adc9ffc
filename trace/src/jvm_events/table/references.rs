//! The table of JNI global references that were created and not deleted.

use std::collections::HashMap;
use std::fmt::Write;

use jvm_events::Recorded;

use super::rows::{Row, Table, named};
use crate::names::printable;
use crate::numbers::{counted, thousands};

/// Class, stack, `true` for weak references, and the thread if there is no stack.
type Site = (u32, Option<u32>, bool, Option<u32>);

/// Tabulates the places that created references, by descending number of open references.
pub(super) fn table(recorded: &Recorded) -> Table<'static> {
    let mut sites: HashMap<Site, [u64; 2]> = HashMap::new();
    // Open and created references; strong ones first, then weak ones.
    let mut sums = [[0, 0]; 2];
    for row in &recorded.references {
        let thread = row.node.is_none().then_some(row.thread);
        let site = (row.class, row.node, row.is_weak, thread);
        let site = sites.entry(site).or_default();
        for of in [site, &mut sums[usize::from(row.is_weak)]] {
            of[0] += row.open;
            of[1] += row.created;
        }
    }
    let open = sites.into_iter().filter(|(_, [open, _])| *open > 0);
    let rows = open.map(|((class, node, is_weak, thread), [open, created])| Row {
        weight: open as f64,
        then: created as f64,
        cells: vec![
            thousands(open),
            thousands(created),
            if is_weak { "weak" } else { "global" }.to_owned(),
        ],
        node,
        name: match thread {
            Some(thread) => format!(
                "{}, by thread \"{}\" in no Java code",
                named(recorded.class(class)),
                printable(recorded.thread(thread))
            ),
            None => named(recorded.class(class)),
        },
    });
    let [strong, weak] = sums.map(|[open, created]| (thousands(open), thousands(created)));
    Table {
        heading: format!(
            "JNI REFERENCES NOT DELETED: {} of {} global and {} of {} weak references that were created",
            strong.0, strong.1, weak.0, weak.1
        ),
        titles: &["open", "created", "kind"],
        name: "class of the object",
        rows: rows.collect(),
        nothing: match recorded.references.is_empty() {
            true => "no reference was created",
            false => "each reference was deleted",
        },
        samples: None,
        whole: None,
    }
}

/// Formats references from before the recording as a line.
pub(super) fn others(recorded: &Recorded) -> String {
    let others = &recorded.other_references;
    let mut text = String::new();
    if let Some(before) = others.before {
        let before = counted(before, "global reference");
        let _ = write!(
            text,
            "before the recording: {before}, the JVM's own among them"
        );
        if let Some(at_end) = others.at_end {
            let _ = write!(text, "; at its end {}", thousands(at_end));
        }
        text.push('\n');
    }
    let deleted = others.deleted + others.deleted_weak;
    if deleted > 0 {
        let _ = writeln!(
            text,
            "{} from before the recording, or not followed, {} deleted",
            counted(deleted, "reference"),
            if deleted == 1 { "was" } else { "were" }
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvm_events::recorded::{OtherReferences, Reference};

    #[test]
    fn places_without_open_references_are_left_out() {
        let reference = |thread, node, is_weak, created, open| Reference {
            thread,
            class: u32::from(created == 9),
            node,
            is_weak,
            created,
            open,
        };
        let recorded = Recorded {
            classes: vec!["a.Kept".to_owned(), "a.Gone".to_owned()],
            threads: vec!["main".to_owned()],
            references: vec![
                reference(0, Some(0), false, 3, 2),
                reference(1, Some(0), false, 1_000, 5),
                reference(0, None, true, 4, 1),
                reference(0, Some(0), false, 9, 0),
            ],
            other_references: OtherReferences {
                before: Some(1),
                at_end: Some(1_007),
                deleted: 0,
                deleted_weak: 1,
            },
            ..Recorded::default()
        };
        let table = table(&recorded);
        let heading = "JNI REFERENCES NOT DELETED: 7 of 1,012 global and 1 of 4 weak references that were created";
        assert_eq!(table.heading, heading);
        let mut rows: Vec<_> = table.rows.iter().map(|row| row.cells.join(" ")).collect();
        rows.sort_unstable();
        assert_eq!(rows, ["1 4 weak", "7 1,003 global"]);
        let mut names: Vec<_> = table.rows.iter().map(|row| row.name.as_str()).collect();
        names.sort_unstable();
        let nowhere = "a.Kept, by thread \"main\" in no Java code";
        assert_eq!(names, ["a.Kept", nowhere]);
        let line = "before the recording: 1 global reference, the JVM's own among them; at its end 1,007\n\
                    1 reference from before the recording, or not followed, was deleted\n";
        assert_eq!(others(&recorded), line);
        assert_eq!(others(&Recorded::default()), "");
    }
}
