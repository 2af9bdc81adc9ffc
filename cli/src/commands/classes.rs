//! `classhook classes`: what is loaded in a running JVM, and who changed it.

use clap::Args;
use control::Request;
use control::message::{Class, Classes as Answer};

use crate::args::Target;
use crate::problem::Problem;

const AFTER_HELP: &str = "\
Examples:
  classhook classes 4711 --changed
  classhook classes 4711 'com.acme.**' --limit 50 --skip 100";

/// Lists the classes of a running JVM, and who changed them.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Classes {
    /// Whom to ask.
    #[command(flatten)]
    pub target: Target,
    /// Only these classes: com.acme.**, loader:app
    #[arg(value_name = "SELECTOR")]
    pub filter: Option<String>,
    /// Only those that a plugin has changed
    #[arg(long)]
    pub changed: bool,
    /// Leave out the first so many
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub skip: usize,
    /// List so many at most
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    pub limit: usize,
}

impl Classes {
    /// Asks and prints a line per class.
    ///
    /// # Errors
    /// If there is no agent to ask, or the selector makes no sense.
    pub fn run(&self) -> Result<u8, Problem> {
        let request = Request::Classes {
            filter: self.filter.clone(),
            changed: self.changed,
            skip: self.skip,
            limit: self.limit,
        };
        self.target
            .answer(&request, |answer| text(answer, self.skip))
    }
}

fn text(answer: &Answer, skip: usize) -> String {
    let mut text: String = answer.classes.iter().map(line).collect();
    let listed = answer.classes.len();
    if listed < answer.total {
        text.push_str(&format!(
            "{listed} of {} classes; --skip {} shows the next\n",
            answer.total,
            skip + listed
        ));
    }
    text
}

fn line(class: &Class) -> String {
    let changed = match class.changed_by.as_slice() {
        [] => String::new(),
        plugins => format!("  changed by {}", plugins.join(", ")),
    };
    format!("{} ({}){changed}\n", class.name, class.loader)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_told_with_the_way_to_it() {
        let class = Class {
            name: "a.B".into(),
            loader: "app".into(),
            changed_by: vec!["coverage".into()],
        };
        let answer = Answer {
            total: 9,
            classes: vec![class],
        };
        assert_eq!(
            text(&answer, 4),
            "a.B (app)  changed by coverage\n1 of 9 classes; --skip 5 shows the next\n"
        );
    }
}
