//! The system properties and the command line of a running JVM, which name its application.

use std::collections::HashMap;

/// A running JVM.
#[derive(Debug, Default)]
pub struct JvmProperties {
    properties: HashMap<String, String>,
    /// Archives of `-javaagent`.
    pub agents: Vec<String>,
}

impl JvmProperties {
    /// Reads the text of `java.util.Properties` and the command line.
    pub fn new(properties: &str, command_line: Vec<String>) -> Self {
        let agents = command_line.iter().filter_map(|argument| {
            let agent = argument.strip_prefix("-javaagent:")?;
            agent.split('=').next().map(str::to_owned)
        });
        Self {
            agents: agents.collect(),
            properties: properties.lines().filter_map(property).collect(),
        }
    }

    /// Returns a property that is not empty.
    pub fn property(&self, name: &str) -> Option<&str> {
        let value = self.properties.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    /// Returns the paths in a property, absolute.
    pub fn paths(&self, name: &str) -> Vec<String> {
        let paths = self.property(name).unwrap_or_default().split(':');
        let paths = paths.filter(|path| !path.is_empty());
        paths.map(|path| self.absolute(path)).collect()
    }

    /// Makes a path of the JVM absolute, without `.` and a `/` at its end.
    pub fn absolute(&self, path: &str) -> String {
        let folder = self.property("user.dir").unwrap_or("/");
        let joined = std::path::Path::new(folder).join(path);
        let parts: std::path::PathBuf = joined.components().collect();
        parts.to_string_lossy().into_owned()
    }
}

/// Reads a line `key=value` of `java.util.Properties`.
fn property(line: &str) -> Option<(String, String)> {
    if line.starts_with('#') {
        return None;
    }
    let mut parts = [String::new(), String::new()];
    let mut at = 0;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '=' if at == 0 => at = 1,
            '\\' => parts[at].extend(escaped(&mut letters)),
            letter => parts[at].push(letter),
        }
    }
    let [key, value] = parts;
    (at == 1).then_some((key, value))
}

/// Reads the rest of an escape sequence.
fn escaped(letters: &mut std::str::Chars<'_>) -> Option<char> {
    match letters.next()? {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'f' => Some('\x0C'),
        'u' => {
            let digits: String = letters.by_ref().take(4).collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
        }
        letter => Some(letter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_read_without_their_escapes() {
        let text = "#Thu Nov 26\njava.class.path=/a\\:b/c d\\\\e\\u00E9\nuser.dir=/w\nempty=\n";
        let arguments = ["java", "-javaagent:/x/agent.jar=port=1", "Main"];
        let jvm = JvmProperties::new(text, arguments.map(str::to_owned).into());
        assert_eq!(jvm.property("java.class.path"), Some("/a:b/c d\\eé"));
        assert_eq!(jvm.property("empty"), None);
        assert_eq!(jvm.paths("java.class.path"), ["/a", "/w/b/c d\\eé"]);
        assert_eq!(jvm.absolute("./lib/"), "/w/lib");
        assert_eq!(jvm.agents, ["/x/agent.jar"]);
    }
}
