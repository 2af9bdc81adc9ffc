//! Edits of code and structure, checked by the rules for plans.

use edits::Edit;
use plan_rules::RefusedRequest;
use rewriter::{Action, InsertionPoint, Location};

use crate::plan::State;

impl State {
    /// Writes the edits of code from number `first` on to the text. Inserted code follows the last
    /// place that it is inserted at.
    fn say_edits(&mut self, first: usize) {
        let plan = &self.transformation.request().plan;
        let mut lines = Vec::new();
        let mut edits = plan.edits().iter().skip(first).peekable();
        while let Some(edit) = edits.next() {
            let InsertionPoint { method, location } = edit.point;
            let at = format!("{} {location}", self.method_name(method));
            let Action::Insert(id) = edit.action else {
                lines.push(format!("{at}: {}", plan.describe(edit.action)));
                continue;
            };
            lines.push(format!("{at}: insert"));
            let goes_on = edits.peek().is_some_and(|next| {
                next.action == edit.action && is_behind(next.point) == is_behind(edit.point)
            });
            let code = plan.snippet(id).filter(|_| !goes_on);
            let code = code.map(ToString::to_string).unwrap_or_default();
            lines.extend(code.lines().map(|line| format!("  {line}")));
        }
        lines.iter().for_each(|line| self.say(line, b""));
    }

    /// Requests an edit, and writes the resulting edits to the text.
    pub(crate) fn edit(&mut self, edit: Edit) -> Result<(), RefusedRequest> {
        let plan = &self.transformation.request().plan;
        let (first, first_of_class) = (plan.edits().len(), plan.class_edits().len());
        let replaced = match &edit {
            Edit::ReplaceClass(bytes) => Some(bytes.len()),
            _ => None,
        };
        self.transformation.edit(edit)?;
        self.say_edits(first);
        let edits = self.transformation.request().plan.class_edits();
        let text = edits.get(first_of_class).map(ToString::to_string);
        let text = text.unwrap_or_default();
        text.lines().for_each(|line| self.say(line, b""));
        if let Some(length) = replaced {
            self.say(&format!("another class file of {length} bytes"), b"");
        }
        Ok(())
    }
}

/// Returns whether code at the point runs when an instruction has completed.
fn is_behind(point: InsertionPoint) -> bool {
    matches!(point.location, Location::FallThrough(_))
}
