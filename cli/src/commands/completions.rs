//! `classhook completions`: what a shell completes behind `classhook`.

use clap::{Args, Command, ValueEnum};
use clap_complete::shells::{Bash, Fish, Zsh};
use clap_complete::{Generator, generate};

use crate::problem::Problem;
use crate::show::show;

const AFTER_HELP: &str = "\
Examples:
  source <(classhook completions bash)                              # this bash
  classhook completions bash > ~/.local/share/bash-completion/completions/classhook
  classhook completions zsh > ~/.zfunc/_classhook                   # with fpath+=~/.zfunc before compinit
  classhook completions fish > ~/.config/fish/completions/classhook.fish";

/// Prints a script that has a shell complete commands and options.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Completions {
    /// Whose script it is
    pub shell: Shell,
}

/// A shell that can be completed for.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shell {
    /// GNU's
    Bash,
    /// Z shell
    Zsh,
    /// fish
    Fish,
}

impl Completions {
    /// Prints the script for all of `classhook` but what is hidden.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn run(&self, classhook: &Command) -> Result<u8, Problem> {
        let script = match self.shell {
            Shell::Bash => script(Bash, classhook),
            Shell::Zsh => script(Zsh, classhook),
            Shell::Fish => script(Fish, classhook),
        };
        show(&script).map(|()| 0)
    }
}

fn script(shell: impl Generator, classhook: &Command) -> String {
    let shown = classhook.get_subcommands().filter(|one| !one.is_hide_set());
    let mut shown = Command::new("classhook").subcommands(shown.cloned());
    let mut script = Vec::new();
    generate(shell, &mut shown, "classhook", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
