//! Assembles a snippet for a plugin and counts its bytes.

use rewriter::{Assemble, Label, Member, Snippet, SnippetError};

use crate::limits::{LABEL_BYTES, MAX_LABELS, OPERATION_BYTES};

/// A snippet under construction. Every operation counts towards the limits, even a refused one.
#[derive(Debug, Clone, Default)]
pub struct SnippetBuilder {
    snippet: Snippet,
    /// The labels; the plugin identifies each by its index.
    labels: Vec<Label>,
    bytes: usize,
}

/// Returns the bytes of text in the name of a member.
pub(crate) fn text_of(member: &Member) -> usize {
    member.owner.len() + member.name.len() + member.descriptor.len()
}

impl SnippetBuilder {
    /// The number returned when no further label is allowed.
    pub const NO_LABEL: u32 = u32::MAX;

    /// Adds an operation with `text` bytes of text.
    ///
    /// # Errors
    /// Returns the reason for the refusal.
    pub fn add(
        &mut self,
        text: usize,
        add: impl FnOnce(&mut Snippet) -> Result<(), SnippetError>,
    ) -> Result<(), String> {
        self.bytes += OPERATION_BYTES + text;
        add(&mut self.snippet).map_err(|error| error.to_string())
    }

    /// Adds an operation with the name of a member.
    ///
    /// # Errors
    /// Returns the reason for the refusal.
    pub fn add_member(
        &mut self,
        member: Member,
        add: impl FnOnce(&mut Snippet, Member) -> Result<(), SnippetError>,
    ) -> Result<(), String> {
        self.add(text_of(&member), |snippet| add(snippet, member))
    }

    /// Adds an operation with a label.
    ///
    /// # Errors
    /// Returns the reason for the refusal.
    pub fn add_at(
        &mut self,
        label: u32,
        add: impl FnOnce(&mut Snippet, Label) -> Result<(), SnippetError>,
    ) -> Result<(), String> {
        let found = usize::try_from(label)
            .ok()
            .and_then(|at| self.labels.get(at).copied());
        self.bytes += OPERATION_BYTES;
        let found = found.ok_or_else(|| format!("label {label} was not made by this snippet"))?;
        add(&mut self.snippet, found).map_err(|error| error.to_string())
    }

    /// Returns the number of a new label; [`SnippetBuilder::NO_LABEL`] if there are too many.
    pub fn new_label(&mut self) -> u32 {
        if self.labels.len() == MAX_LABELS {
            return Self::NO_LABEL;
        }
        self.bytes += LABEL_BYTES;
        let label = self.snippet.new_label();
        self.labels.push(label);
        u32::try_from(self.labels.len() - 1).unwrap_or(Self::NO_LABEL)
    }

    /// Returns the code built so far.
    pub(crate) fn snippet(&self) -> &Snippet {
        &self.snippet
    }

    /// Returns the bytes that the snippet counts for.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_counts_with_its_text() {
        let mut code = SnippetBuilder::default();
        assert_eq!(code.add(5, |code| code.push_string("12345")), Ok(()));
        let member = Member {
            owner: "A".to_owned(),
            name: "b".to_owned(),
            descriptor: "()V".to_owned(),
            interface: false,
        };
        let added = code.add_member(member, |code, member| code.invoke(0xb8, member));
        assert_eq!((added, code.bytes()), (Ok(()), 2 * 64 + 5 + 5));
    }

    #[test]
    fn unknown_labels_are_refused_and_labels_are_limited() {
        let mut code = SnippetBuilder::default();
        let refused = code.add_at(0, Snippet::place);
        assert_eq!(
            refused,
            Err("label 0 was not made by this snippet".to_owned())
        );
        assert_eq!(code.new_label(), 0);
        assert_eq!(code.add_at(0, Snippet::place), Ok(()));
        let last = (1..=MAX_LABELS).map(|_| code.new_label()).last();
        assert_eq!(last, Some(SnippetBuilder::NO_LABEL));
    }
}
