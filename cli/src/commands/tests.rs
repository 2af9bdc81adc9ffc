//! Tests of the help and of the command line as a whole.

use std::collections::{BTreeMap, HashSet};

use clap::{Arg, Command as Clap};

use super::groups::GROUPS;
use super::*;

/// Verbs that begin a line of the help.
const VERBS: &[&str] = &[
    "Add",
    "Build",
    "Change",
    "Check",
    "Choose",
    "Collect",
    "Compile",
    "Compute",
    "Configure",
    "Copy",
    "Count",
    "Create",
    "Cut",
    "Disable",
    "Draw",
    "Enable",
    "End",
    "Explain",
    "Fail",
    "Grant",
    "Group",
    "Instrument",
    "Keep",
    "Leave",
    "Limit",
    "List",
    "Listen",
    "Load",
    "Mark",
    "Measure",
    "Merge",
    "Name",
    "Patch",
    "Print",
    "Profile",
    "Read",
    "Rebuild",
    "Receive",
    "Record",
    "Refuse",
    "Remove",
    "Replace",
    "Report",
    "Require",
    "Reset",
    "Restore",
    "Run",
    "Scale",
    "Search",
    "Select",
    "Send",
    "Set",
    "Show",
    "Sort",
    "Start",
    "Stop",
    "Sum",
    "Take",
    "Test",
    "Trace",
    "Trust",
    "Undo",
    "Use",
    "Verify",
    "Write",
];
/// Words in the first sentence of a line.
const MOST_WORDS: usize = 12;

/// Calls `look` with the words of each command and with the command, also of those below `plugin`.
fn each_command(look: &mut dyn FnMut(&str, &Clap)) {
    fn below(name: &str, command: &Clap, look: &mut dyn FnMut(&str, &Clap)) {
        for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
            let name = format!("{name} {}", one.get_name());
            look(&name, one);
            below(&name, one, look);
        }
    }
    below("classhook", &Classhook::command(), look);
}

/// Calls `look` with a name and the help of each option and operand.
fn each_argument(look: &mut dyn FnMut(&str, &Arg, String)) {
    each_command(&mut |name, command| {
        for arg in command.get_arguments() {
            let help = arg.get_help().map(ToString::to_string);
            look(name, arg, help.unwrap_or_default());
        }
    });
}

/// The text that `classhook` prints for these words, which ask for help or are wrong.
fn answer(words: &[&str]) -> String {
    let words = std::iter::once(&"classhook").chain(words);
    let words: Vec<OsString> = words.map(OsString::from).collect();
    parse(&words).expect_err("no command runs").to_string()
}

/// Returns the first sentence of a line of the help, without examples, details and defaults.
fn first_sentence(help: &str) -> &str {
    let sentence = help.split([':', ';', '[', '(']).next().unwrap_or_default();
    sentence.split(". ").next().unwrap_or_default().trim()
}

/// Finds the fault of a line of the help.
fn fault(help: &str) -> Option<String> {
    let words: Vec<&str> = first_sentence(help).split_whitespace().collect();
    let verb = words.first().copied().unwrap_or_default();
    let verb = verb.trim_end_matches(',');
    match words.len() {
        _ if !VERBS.contains(&verb) => Some(format!("begins with `{verb}`, not with a known verb")),
        0 | 1 => Some("has no object".to_owned()),
        count if count > MOST_WORDS => Some(format!("has {count} words in its first sentence")),
        _ => None,
    }
}

/// Shared groups of options meet in one command; clap looks at them in
/// debug builds only.
#[test]
fn no_two_arguments_of_a_command_share_a_name() {
    each_command(&mut |name, command| {
        let mut seen = HashSet::new();
        for argument in command.get_arguments() {
            let id = argument.get_id();
            assert!(seen.insert(id), "{name} has two of {id}");
        }
    });
}

#[test]
fn each_command_is_in_one_group_of_the_help() {
    let classhook = Classhook::command();
    let shown = classhook.get_subcommands().filter(|one| !one.is_hide_set());
    let mut shown: Vec<&str> = shown.map(Clap::get_name).collect();
    let names = GROUPS.iter().flat_map(|(_, names)| names.iter().copied());
    let mut grouped: Vec<&str> = names.collect();
    shown.sort_unstable();
    grouped.sort_unstable();
    assert_eq!(grouped, shown);
}

#[test]
fn help_lists_the_commands_below_the_headings_of_their_groups() {
    for option in ["-h", "--help"] {
        let text = answer(&[option]);
        let mut rest = text.as_str();
        for (heading, names) in GROUPS {
            let (_, below) = rest.split_once(&format!("\n{heading}:\n")).expect(heading);
            for (line, name) in below.lines().zip(names) {
                let mut words = line.split_whitespace();
                assert_eq!(words.next(), Some(*name), "{heading}: {text}");
                assert!(words.count() > 1, "{line}");
                assert!(line.len() <= 80, "wraps in a terminal: {line}");
            }
            rest = below;
        }
        assert!(rest.contains("\nOptions:\n"), "{text}");
        assert!(rest.contains("--version"), "{text}");
        assert_eq!(text.contains("Examples:"), option == "--help", "{text}");
    }
    assert!(answer(&["help"]).contains("\nMeasure:\n"));
    assert!(answer(&["help", "run"]).contains("\nAgent options:\n"));
}

#[test]
fn each_line_of_the_help_is_a_verb_with_an_object() {
    let mut faults = Vec::new();
    let mut check = |name: &str, help: &str| {
        if let Some(fault) = fault(help) {
            faults.push(format!("{name}: `{help}` {fault}"));
        }
    };
    each_command(&mut |name, command| {
        let about = command.get_about().map(ToString::to_string);
        check(name, &about.unwrap_or_default());
    });
    each_argument(&mut |name, arg, help| check(&format!("{name} {}", arg.get_id()), &help));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn operands_are_below_no_heading_of_options() {
    each_argument(&mut |name, arg, _| {
        let is_below = arg.is_positional() && arg.get_help_heading().is_some();
        assert!(!is_below, "{name} {}", arg.get_id());
    });
}

/// Options that only share their name and the form of their value.
const UNRELATED: [&str; 1] = ["interval"]; // of samples, and of printed tables

#[test]
fn option_of_several_commands_has_one_wording() {
    let mut wordings: BTreeMap<(String, String), BTreeMap<String, Vec<String>>> = BTreeMap::new();
    each_argument(&mut |name, arg, help| {
        let Some(long) = arg.get_long().filter(|long| !UNRELATED.contains(long)) else {
            return;
        };
        let values = match arg.get_action().takes_values() {
            true => arg.get_value_names().unwrap_or_default().join(" "),
            false => String::new(),
        };
        let of_option = wordings.entry((long.to_owned(), values)).or_default();
        let wording = first_sentence(&help).to_owned();
        of_option.entry(wording).or_default().push(name.to_owned());
    });
    wordings.retain(|_, of_option| of_option.len() > 1);
    assert!(wordings.is_empty(), "{wordings:#?}");
}

#[test]
fn unknown_command_or_option_has_a_suggestion() {
    let text = answer(&["covrage"]);
    assert!(text.contains("'coverage'"), "{text}");
    let text = answer(&["report", "--lcvo", "x", "out"]);
    assert!(text.contains("'--lcov'"), "{text}");
}
