//! `classhook error`: explains a code of an error or warning.

use std::fmt::Write;

use clap::Args;
use errors::{Error, ErrorCode, find_code};
use standard_streams::show::show;

const AFTER_HELP: &str = "\
Examples:
  classhook error H0612
  classhook error 612";

/// Explains an error or warning by its code: meaning, exit statuses and remedy.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct ExplainError {
    /// Explain this code, as a message shows it
    #[arg(value_name = "CODE", value_parser = parse)]
    pub code: &'static ErrorCode,
}

impl ExplainError {
    /// Prints the description of the code.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn run(&self) -> Result<u8, Error> {
        show(&description(self.code)).map(|()| 0)
    }
}

fn parse(text: &str) -> Result<&'static ErrorCode, String> {
    find_code(text).ok_or_else(|| "expected a code such as H0612".to_owned())
}

/// Returns one line for each part of the description.
fn description(code: &ErrorCode) -> String {
    let mut text = format!("{}: {}\n", code.code, without_links(code.meaning));
    if !code.statuses.is_empty() {
        let statuses: Vec<String> = code.statuses.iter().map(u8::to_string).collect();
        // a string takes everything
        let _ = writeln!(text, "  exit status  {}", statuses.join(", "));
    }
    if !code.remedy.is_empty() {
        let _ = writeln!(text, "  remedy       {}", without_links(code.remedy));
    }
    let _ = writeln!(text, "  section      docs/errors.md#{}", code.section());
    text
}

/// Replaces each Markdown link `[text](page)` by its text and the page behind it: `text (docs/page)`.
fn without_links(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some((before, link)) = rest.split_once('[') {
        text += before;
        let parts = link
            .split_once("](")
            .filter(|(name, _)| !name.contains(['[', ']']))
            .and_then(|(name, after)| Some((name, after.split_once(')')?)));
        let Some((name, (page, after))) = parts else {
            text.push('[');
            rest = link;
            continue;
        };
        let _ = write!(text, "{name} (docs/{page})"); // a string takes everything
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use errors::codes;

    #[test]
    fn description_has_meaning_statuses_remedy_and_section() {
        let code = find_code("h0110").unwrap();
        let expected = "H0110: a selector that makes no sense\n  exit status  2\n  \
                        remedy       see the table of selectors in options (docs/options.md)\n  \
                        section      docs/errors.md#h01xx-configuration-and-plugin-files\n";
        assert_eq!(description(code), expected);
    }

    #[test]
    fn links_become_their_text_and_page_and_other_brackets_stay() {
        assert_eq!(
            without_links("correct `[plugin.config]`; see [patch](patch.md#x), or [y"),
            "correct `[plugin.config]`; see patch (docs/patch.md#x), or [y"
        );
    }

    #[test]
    fn unknown_code_is_refused() {
        assert!(parse("H9999").is_err());
        assert_eq!(parse("error[H0612]").unwrap().code, codes::H0612);
    }
}
