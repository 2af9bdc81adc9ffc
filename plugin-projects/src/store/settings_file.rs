//! Edits a hand-written `classhook.toml`: lines are added, replaced and removed, and all other text
//! stays. The edited text is parsed and compared with the intended settings before it is written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use errors::{Error, codes};
use host::config::lock::quoted;
use local_files::atomic;
use toml::{Table, Value};

/// The file's name.
const FILE: &str = "classhook.toml";

/// A `classhook.toml`, which may not exist yet.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    path: PathBuf,
    text: String,
    table: Table,
}

impl SettingsFile {
    /// Reads the file in a folder.
    ///
    /// # Errors
    /// If it cannot be read (`H0612`), or is no TOML (`H0103`).
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text.map_err(|error| Error::unreadable(&path, &error))?,
        };
        let table = text.parse().map_err(|error: toml::de::Error| {
            let message = format!("{} is not valid TOML", path.display());
            Error::mistake(codes::H0103, message).with("found", error.to_string())
        })?;
        Ok(Self { path, text, table })
    }

    /// Formats the path for messages.
    #[must_use]
    pub fn name(&self) -> String {
        escape::path(&self.path)
    }

    /// Returns the grants of a plugin, if the file names it.
    #[must_use]
    pub fn grants(&self, plugin: &str) -> Option<Vec<String>> {
        let (_, table) = self.find(plugin)?;
        let grants = table.get("grant").and_then(Value::as_array);
        let grants = grants.into_iter().flatten().filter_map(Value::as_str);
        Some(grants.map(str::to_owned).collect())
    }

    /// Returns the file with these grants for a plugin.
    ///
    /// # Errors
    /// If that changes more than a separate line (`H0694`).
    pub fn with(&self, plugin: &str, grants: &[String]) -> Result<Self, Error> {
        let words: Vec<_> = grants.iter().map(|grant| quoted(grant)).collect();
        let line = format!("grant = [{}]", words.join(", "));
        let grants: Vec<Value> = grants.iter().cloned().map(Value::String).collect();
        let mut meant = self.table.clone();
        let mut lines: Vec<&str> = self.text.lines().collect();
        let header = format!("use = {}", quoted(plugin));
        match self.find(plugin) {
            Some((index, _)) => {
                let table = entries(&mut meant).and_then(|plugins| plugins.get_mut(index));
                if let Some(table) = table.and_then(Value::as_table_mut) {
                    table.insert("grant".to_owned(), Value::Array(grants));
                }
                let (begin, end) = self.lines_of(index);
                let keys = lines.get(begin + 1..end).unwrap_or_default();
                let keys = keys.iter().take_while(|line| !is_header(line));
                let is_grant = |line: &&str| {
                    line.split('=')
                        .next()
                        .is_some_and(|key| key.trim() == "grant")
                };
                match keys.clone().position(is_grant) {
                    Some(at) => lines[begin + 1 + at] = &line,
                    None => lines.insert((begin + 1).min(lines.len()), &line),
                }
            }
            None => {
                let mut table = Table::from_iter([("use".to_owned(), plugin.into())]);
                let is_granted = !grants.is_empty();
                if is_granted {
                    table.insert("grant".to_owned(), Value::Array(grants));
                }
                let all = meant
                    .entry("plugin")
                    .or_insert_with(|| Value::Array(Vec::new()));
                if let Some(all) = all.as_array_mut() {
                    all.push(Value::Table(table));
                }
                if !lines.is_empty() {
                    lines.push("");
                }
                lines.extend(["[[plugin]]", &header]);
                lines.extend(is_granted.then_some(&*line));
            }
        }
        self.changed(
            &lines,
            meant,
            &format!("[[plugin]] with {header} and {line}"),
        )
    }

    /// Returns the file without a plugin.
    ///
    /// # Errors
    /// If its lines cannot be separated from others (`H0694`).
    pub fn without(&self, plugin: &str) -> Result<Self, Error> {
        let Some((index, _)) = self.find(plugin) else {
            return Ok(self.clone());
        };
        let mut meant = self.table.clone();
        if let Some(plugins) = entries(&mut meant) {
            plugins.remove(index);
            if plugins.is_empty() {
                meant.remove("plugin");
            }
        }
        let mut lines: Vec<&str> = self.text.lines().collect();
        let (begin, end) = self.lines_of(index);
        lines.drain(begin..end);
        self.changed(
            &lines,
            meant,
            &format!("no [[plugin]] with use = \"{plugin}\""),
        )
    }

    /// Writes the file, unless it is unchanged.
    ///
    /// # Errors
    /// If it cannot be written (`H0620`).
    pub fn write(&self) -> Result<(), Error> {
        if fs::read_to_string(&self.path).unwrap_or_default() == self.text {
            return Ok(());
        }
        atomic::file(&self.path, &|out| out.write_all(self.text.as_bytes()))
    }

    fn find(&self, plugin: &str) -> Option<(usize, &Table)> {
        let plugins = self.table.get("plugin")?.as_array()?;
        let tables = plugins.iter().map(Value::as_table).enumerate();
        let mut tables = tables.filter_map(|(index, table)| Some((index, table?)));
        tables.find(|(_, table)| table.get("use").and_then(Value::as_str) == Some(plugin))
    }

    /// Returns the first line of a plugin, and the first line behind it. Comments before the next
    /// table belong to that table.
    fn lines_of(&self, index: usize) -> (usize, usize) {
        let lines: Vec<&str> = self.text.lines().map(str::trim).collect();
        let is_plugin = |line: &&str| line.starts_with("[[plugin]]");
        let begins = lines.iter().enumerate().filter(|(_, line)| is_plugin(line));
        let begin = begins.map(|(at, _)| at).nth(index).unwrap_or(lines.len());
        let mut below = lines.iter().enumerate().skip(begin + 1);
        let next = below.find(|(_, line)| is_header(line) && !line.contains("plugin."));
        let Some((mut end, _)) = next else {
            return (begin, lines.len());
        };
        while end > begin + 1 && lines.get(end - 1).is_some_and(|line| line.starts_with('#')) {
            end -= 1;
        }
        (begin, end)
    }

    fn changed(&self, lines: &[&str], meant: Table, by_hand: &str) -> Result<Self, Error> {
        let mut text = lines.join("\n");
        let text = match text.trim_end().len() {
            0 => String::new(),
            end => {
                text.truncate(end);
                text + "\n"
            }
        };
        if text.parse::<Table>().is_ok_and(|found| found == meant) {
            let path = self.path.clone();
            return Ok(Self {
                path,
                text,
                table: meant,
            });
        }
        let message = format!("{} has a form that this command cannot edit", self.name());
        Err(Error::mistake(codes::H0694, message)
            .with("expected", by_hand)
            .with(
                "help",
                "write these lines into the file, and run the command again",
            ))
    }
}

fn entries(table: &mut Table) -> Option<&mut Vec<Value>> {
    table.get_mut("plugin")?.as_array_mut()
}

fn is_header(line: &str) -> bool {
    line.trim_start().starts_with('[')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# ours
[agent]
log = \"info\"   # much

[[plugin]]
use = \"a\" # first
select = [\"x.**\"]
[plugin.config]
limit = 3

# the second
[[plugin]]
use = \"b\"
grant = [\"probes\"]
";

    fn file(text: &str) -> SettingsFile {
        SettingsFile {
            path: FILE.into(),
            text: text.to_owned(),
            table: text.parse().unwrap(),
        }
    }

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn plugin_is_added_at_the_end() {
        let new = file("").with("c", &strings(&["probes"])).unwrap();
        assert_eq!(new.text, "[[plugin]]\nuse = \"c\"\ngrant = [\"probes\"]\n");
        let new = file(TEXT).with("c", &[]).unwrap();
        assert_eq!(new.text, format!("{TEXT}\n[[plugin]]\nuse = \"c\"\n"));
        assert_eq!(new.grants("c"), Some(vec![]));
        assert_eq!(new.grants("d"), None);
    }

    #[test]
    fn grants_change_and_other_text_stays() {
        let new = file(TEXT)
            .with("b", &strings(&["probes", "rewrite"]))
            .unwrap();
        let line = "grant = [\"probes\", \"rewrite\"]";
        assert_eq!(new.text, TEXT.replace("grant = [\"probes\"]", line));
        let new = file(TEXT).with("a", &strings(&["boot"])).unwrap();
        let expected = TEXT.replacen("[[plugin]]\n", "[[plugin]]\ngrant = [\"boot\"]\n", 1);
        assert_eq!(new.text, expected);
    }

    #[test]
    fn plugin_is_removed_with_only_its_settings() {
        let new = file(TEXT).without("a").unwrap();
        let begin = TEXT.find("[[plugin]]").unwrap();
        let end = TEXT.find("# the second").unwrap();
        assert_eq!(new.text, format!("{}{}", &TEXT[..begin], &TEXT[end..]));
        let none = new.without("b").unwrap();
        assert_eq!(none.text, format!("{}# the second\n", &TEXT[..begin]));
        assert_eq!(none.without("b").unwrap().text, none.text);
    }

    #[test]
    fn unsupported_form_is_left_to_the_user() {
        for text in [
            "plugin = [{ use = \"a\" }]\n",
            "[[plugin]]\nuse = \"a\"\ngrant = [\n  \"boot\",\n]\n",
        ] {
            let problem = file(text).with("a", &strings(&["probes"])).unwrap_err();
            assert_eq!(problem.code(), "H0694", "{text}");
        }
        let tricky = "[[plugin]]\nuse = \"a\"\n[plugin.config]\ntext = '''\n[x]\n'''\n[[plugin]]\nuse = \"b\"\n";
        assert_eq!(file(tricky).without("a").unwrap_err().code(), "H0694");
    }
}
