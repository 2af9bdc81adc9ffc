//! Flame graphs and folded stacks of calls, and of other stacks.

use std::path::PathBuf;

use errors::{Error, codes};
use local_files::output_files::Files;
use trace::flame::{self, Labels};
use trace::stacks::{DEPTH, Shape, Stacks};

/// The form of stacks in flame graphs and in folded stacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackOptions {
    /// Number of drawn frames of a stack. One more frame counts the deeper calls.
    pub stack_depth: usize,
    /// Draws recursive calls once, in the outermost frame of the method.
    pub fold_recursion: bool,
    /// An earlier recording, or a folder of those, for the difference to it.
    pub against: Option<PathBuf>,
    /// Scales the earlier recording to the same total.
    pub normalize: bool,
}

impl Default for StackOptions {
    fn default() -> Self {
        Self {
            stack_depth: DEPTH,
            fold_recursion: false,
            against: None,
            normalize: false,
        }
    }
}

impl StackOptions {
    /// Refuses --against where no stacks are drawn, or where its recording is missing.
    ///
    /// # Errors
    /// `H0612`, `H0663`.
    pub fn check(&self, is_drawn: bool) -> Result<(), Error> {
        let Some(path) = &self.against else {
            return Ok(());
        };
        if !is_drawn {
            let message = "--against needs --flame-graph or --folded";
            return Err(Error::mistake(codes::H0663, message).with("help", "add one of them"));
        }
        let found = std::fs::metadata(path);
        found.map_or_else(|error| Err(Error::unreadable(path, &error)), |_| Ok(()))
    }

    /// Returns a title with the recording of --against.
    #[must_use]
    pub fn title(&self, of: String) -> String {
        match &self.against {
            Some(path) => format!("{of} against {}", escape::path(path)),
            None => of,
        }
    }

    /// Writes a flame graph and folded stacks if requested, and prints a note about frames that are
    /// left out.
    pub fn write(
        &self,
        stacks: &mut Stacks,
        labels: Labels<'_>,
        (flame_graph, folded): (&Option<PathBuf>, &Option<PathBuf>),
        made: &mut Files,
    ) {
        if self.normalize {
            stacks.normalize();
        }
        let labels = Labels {
            is_difference: self.against.is_some(),
            ..labels
        };
        let stacks = &*stacks;
        if let Some(path) = flame_graph {
            made.file(path, &|out| flame::write(stacks, labels, out));
        }
        if let Some(path) = folded {
            made.file(path, &|out| match labels.is_difference {
                true => stacks.write_difference(out),
                false => stacks.write_folded(out),
            });
        }
        if let Some(left_out) = stacks.left_out() {
            let problem = Error::partial(codes::H0651, "the stacks are incomplete");
            let help = "--fold-recursion or a lower --stack-depth reduces them";
            made.failed
                .push(problem.with("found", left_out).with("help", help));
        }
    }

    /// Returns an empty tree of stacks.
    #[must_use]
    pub fn stacks(&self) -> Stacks {
        Stacks::new(Shape {
            depth: self.stack_depth,
            fold_recursion: self.fold_recursion,
        })
    }
}
