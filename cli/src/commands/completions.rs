//! `classhook completions`: prints a completion script for a shell.

use clap::builder::PossibleValuesParser;
use clap::{Args, Command, ValueEnum, ValueHint};
use clap_complete::shells::{Bash, Fish, Zsh};
use clap_complete::{Generator, generate};
use errors::Error;
use standard_streams::show::show;

use super::profile::Heap;

/// Completion in bash of a started command behind `--`.
const BASH_COMMAND: &str = r#"
_classhook_or_command() {
    local at
    for ((at = 1; at < COMP_CWORD; at++)); do
        [[ ${COMP_WORDS[at]} == -- ]] || continue
        COMPREPLY=()
        if declare -F _command_offset > /dev/null; then
            _command_offset $((at + 1))
        elif ((at + 1 == COMP_CWORD)); then
            mapfile -t COMPREPLY < <(compgen -c -f -- "$2" | sort -u)
        fi
        return 0
    done
    _classhook "$@"
}
complete -F _classhook_or_command -o nosort -o bashdefault -o default classhook 2> /dev/null ||
    complete -F _classhook_or_command -o bashdefault -o default classhook
"#;
/// Completion in zsh of a started command: the generated action, and its replacement.
const ZSH_COMMAND: (&str, &str) = (
    "behind `--`:_default' \\\n&& ret=0",
    "behind `--`:_normal' \\\n&& ret=0",
);

/// Completion in fish of a started command behind `--`.
const FISH_COMMAND: &str = r#"
function __fish_classhook_behind_dashes
    contains -- -- (commandline -opc)
end
function __fish_classhook_complete_command
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    set -e words[1..(contains -i -- -- $words)]
    complete -C (string join ' ' -- (string escape -- $words) "$token")
end
complete -c classhook -n __fish_classhook_behind_dashes -f -a '(__fish_classhook_complete_command)'
"#;

const AFTER_HELP: &str = "\
Examples:
  source <(classhook completions bash)                              # this bash
  classhook completions bash > ~/.local/share/bash-completion/completions/classhook
  classhook completions zsh > ~/.zfunc/_classhook                   # with fpath+=~/.zfunc before compinit
  classhook completions fish > ~/.config/fish/completions/classhook.fish";

/// Prints a script that completes commands and options in a shell.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Completions {
    /// Print the script for this shell
    pub shell: Shell,
}

/// A shell with a completion script.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shell {
    /// GNU Bash
    Bash,
    /// Z shell
    Zsh,
    /// Fish
    Fish,
}

impl Completions {
    /// Prints the script for all commands and options that are not hidden.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn run(&self, classhook: &Command) -> Result<u8, Error> {
        let script = match self.shell {
            Shell::Bash => script(Bash, classhook) + BASH_COMMAND,
            Shell::Zsh => script(Zsh, classhook).replace(ZSH_COMMAND.0, ZSH_COMMAND.1),
            Shell::Fish => script(Fish, classhook) + FISH_COMMAND,
        };
        show(&script).map(|()| 0)
    }
}

fn script(shell: impl Generator, classhook: &Command) -> String {
    let shown = classhook.get_subcommands().filter(|one| !one.is_hide_set());
    let shown = Command::new("classhook").subcommands(shown.cloned());
    let mut shown = shown.mut_subcommand("profile", |profile| {
        profile.mut_arg("heap", |heap| {
            let forms = PossibleValuesParser::new(Heap::FORMS);
            heap.value_parser(forms).value_hint(ValueHint::Other)
        })
    });
    let mut script = Vec::new();
    generate(shell, &mut shown, "classhook", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
