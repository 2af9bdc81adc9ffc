//! Parses the command lines of JVMs.

use std::path::Path;

/// Options of the `java` launcher whose value is the next word.
const WITH_VALUE: [&str; 14] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--add-reads",
    "--add-exports",
    "--add-opens",
    "--patch-module",
    "--enable-native-access",
    "--source",
];

/// Returns the main class, module or jar. For a JVM within another program, returns the program.
#[must_use]
pub fn program_of(command: &str) -> Option<String> {
    let words = words(command);
    let (launcher, arguments) = words.split_first()?;
    if file_name(launcher) != "java" {
        return Some(file_name(launcher));
    }
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-jar" => return arguments.next().map(|jar| file_name(jar)),
            "-m" | "--module" => return arguments.next().cloned(),
            option if WITH_VALUE.contains(&option) => drop(arguments.next()),
            option if option.starts_with(['-', '@']) => {}
            main => return Some(file_name(main)),
        }
    }
    Some(file_name(launcher))
}

fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or_else(
        || path.to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Splits a command line, as the agent stores it, into words. Words with spaces are in quotes.
pub fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for character in command.chars() {
        match character {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.extend(Some(std::mem::take(&mut word))),
            other => word.push(other),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_classes_modules_and_jars_are_found() {
        for (command, program) in [
            (
                "/jdk/bin/java -cp \"/a b/c.jar\" -Xmx1g com.acme.Main x",
                "com.acme.Main",
            ),
            (
                "java -agentpath:/l.so=a -jar /lib/app.jar --port 1",
                "app.jar",
            ),
            (
                "java @args --add-opens java.base/x=y -m app/com.acme.Main",
                "app/com.acme.Main",
            ),
            ("java \"/w/it is/Main.java\"", "Main.java"),
            ("/usr/bin/launcher -x", "launcher"),
            ("java -version", "java"),
        ] {
            assert_eq!(program_of(command).as_deref(), Some(program), "{command}");
        }
        assert_eq!(program_of(""), None);
    }
}
