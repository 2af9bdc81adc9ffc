//! Commands that the documents show.

use e2e_tests::jdks::Jdk;
use e2e_tests::workspace;
use std::path::Path;
use std::process::Command;

/// Runs a script with this JDK first in `PATH`, and returns its output.
#[track_caller]
pub fn shell(jdk: &Jdk, folder: &Path, script: &str) -> String {
    shell_with(jdk, folder, script, &[])
}

/// Like [`shell`], with the command `classhook` in `PATH` and these variables.
#[track_caller]
pub fn shell_with(jdk: &Jdk, folder: &Path, script: &str, variables: &[(&str, &Path)]) -> String {
    let path = workspace::path_with_compilers();
    let command = workspace::classhook();
    let command = command.parent().expect("a folder");
    let path = format!(
        "{}:{}:{path}",
        jdk.home.join("bin").display(),
        command.display()
    );
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", script])
        .current_dir(folder)
        .env("PATH", path)
        .env("JAVA_HOME", &jdk.home)
        .envs(variables.iter().copied())
        .output()
        .expect("bash is installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "on {jdk}:\n{script}\n{text}\n{errors}"
    );
    text
}

/// Returns the code blocks of a document in one language.
pub fn blocks(document: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(workspace::root().join(document)).expect("the document");
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks
        .filter_map(|block| block.split("```").next())
        .map(str::to_owned)
        .collect()
}

/// Asserts that a script printed each line of the blocks of text. Widths of columns may differ.
#[track_caller]
pub fn assert_shown(document: &str, printed: &str) {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let printed: Vec<_> = printed.lines().map(words).collect();
    for line in blocks(document, "text").join("\n").lines() {
        let expected = words(line);
        assert!(
            printed.iter().any(|found| found.starts_with(&expected)),
            "expected {line}\n{printed:#?}"
        );
    }
}

/// Asserts that a script has printed a line for each line of the `console` blocks, with other numbers and times.
#[track_caller]
pub fn assert_similar(document: &str, printed: &str) {
    let units = ["ns", "µs", "ms", "s", "-"];
    let words = |line: &str| -> Vec<String> {
        let words = line.split_whitespace();
        let words = words.filter(|word| !units.contains(word));
        let words = words.filter(|word| !word.starts_with(|letter: char| letter.is_ascii_digit()));
        let words = words.map(|word| word.replace(|letter: char| letter.is_ascii_digit(), ""));
        words.collect()
    };
    let printed: Vec<_> = printed.lines().map(words).collect();
    let shown = blocks(document, "console").join("\n");
    for line in shown.lines().filter(|line| !line.is_empty()) {
        let expected = words(line);
        assert!(
            printed.contains(&expected),
            "{document}: expected {line}\n{printed:#?}"
        );
    }
}
