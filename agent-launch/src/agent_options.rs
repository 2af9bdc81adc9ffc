//! The agent's option string: `key=value,key=value`, with `\,` and `\\` inside values.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::settings::{EventFiles, Watch, WhenFull};

/// The agent's options. The configuration file and the agent's defaults supply the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentOptions {
    /// `classhook.toml`, absolute.
    pub config: Option<PathBuf>,
    /// Folder for snapshots, absolute.
    pub output: Option<PathBuf>,
    /// Template for the names of snapshot files.
    pub file_name: Option<String>,
    /// Plugins: bundled names or absolute paths.
    pub plugins: Vec<OsString>,
    /// Selectors.
    pub select: Vec<String>,
    /// Capabilities granted to the plugins.
    pub grant: Vec<String>,
    /// The configuration of the plugin `advice`, a JSON file; absolute.
    pub advice: Option<PathBuf>,
    /// Configuration of the plugins, as JSON.
    pub settings: Option<String>,
    /// Selects the single calls to keep, with their values.
    pub watch: Watch,
    /// Size limits of event files.
    pub event_files: EventFiles,
    /// Records waits beside calls.
    pub waits: bool,
    /// Records the results of each class loader apart.
    pub per_loader: bool,
    /// True if classes are changed before other agents see them.
    pub before_agents: bool,
    /// `warn` or `strict`.
    pub on_error: Option<&'static str>,
    /// The agent's log level.
    pub log: Option<String>,
    /// Id of the run, stored in each snapshot.
    pub run: Option<String>,
    /// The folder in which an agent leaves a file if it cannot start.
    pub failures: Option<PathBuf>,
    /// Selects the JVM's own events to record.
    pub jvm_events: Option<String>,
    /// The plugin of a visiting agent, which leaves when the plugin is released.
    pub visit: Option<String>,
    /// Instruments loaded classes only after attaching is complete.
    pub later: bool,
    /// Maximum bytes of metaspace for changes of loaded classes.
    pub metaspace: Option<u64>,
    /// A folder of compiled plugins.
    pub cache: Option<PathBuf>,
    /// The file for the agent's messages while it attaches.
    pub messages: Option<PathBuf>,
}

impl AgentOptions {
    /// Formats the option string.
    #[must_use]
    pub fn to_text(&self) -> OsString {
        let mut text = Vec::new();
        let mut put = |key: &str, value: &OsStr| {
            if !text.is_empty() {
                text.push(b',');
            }
            text.extend_from_slice(key.as_bytes());
            text.push(b'=');
            text.extend(value.as_bytes().iter().flat_map(escape));
        };
        let paths = [("config", &self.config), ("output", &self.output)];
        paths
            .iter()
            .for_each(|(key, path)| path.iter().for_each(|path| put(key, path.as_os_str())));
        self.plugins.iter().for_each(|plugin| put("plugin", plugin));
        let lists = [("select", &self.select), ("grant", &self.grant)];
        lists
            .iter()
            .for_each(|(key, values)| values.iter().for_each(|value| put(key, value.as_ref())));
        let calls = self.watch.calls.map(|calls| calls.to_string());
        let depth = self.watch.depth.map(|depth| depth.to_string());
        let per_second = self.watch.per_second.map(|calls| calls.to_string());
        let metaspace = self.metaspace.map(|bytes| bytes.to_string());
        let paths = [
            ("advice", &self.advice),
            ("cache", &self.cache),
            ("messages", &self.messages),
        ];
        paths
            .iter()
            .for_each(|(key, path)| path.iter().for_each(|path| put(key, path.as_os_str())));
        let failures = self.failures.as_deref().map(Path::to_string_lossy);
        let single = [
            ("file-name", self.file_name.as_deref()),
            ("settings", self.settings.as_deref()),
            ("when", self.watch.when.as_deref()),
            ("show", self.watch.show.as_deref()),
            ("calls", calls.as_deref()),
            ("calls-per-second", per_second.as_deref()),
            ("about", self.watch.about.as_deref()),
            ("depth", depth.as_deref()),
            ("max-size", self.event_files.max_size.as_deref()),
            (
                "when-full",
                self.event_files.when_full.map(WhenFull::as_str),
            ),
            ("waits", self.waits.then_some("on")),
            ("per-loader", self.per_loader.then_some("on")),
            ("before-agents", self.before_agents.then_some("on")),
            ("on-error", self.on_error),
            ("log", self.log.as_deref()),
            ("run", self.run.as_deref()),
            ("failures", failures.as_deref()),
            ("jvm-events", self.jvm_events.as_deref()),
            ("visit", self.visit.as_deref()),
            ("later", self.later.then_some("on")),
            ("metaspace", metaspace.as_deref()),
        ];
        single
            .iter()
            .for_each(|(key, value)| value.iter().for_each(|value| put(key, value.as_ref())));
        OsString::from_vec(text)
    }
}

fn escape(byte: &u8) -> impl Iterator<Item = u8> + use<> {
    let escaped = matches!(byte, b',' | b'\\');
    escaped.then_some(b'\\').into_iter().chain([*byte])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_options_are_the_empty_text() {
        assert_eq!(AgentOptions::default().to_text(), "");
    }

    #[test]
    fn commas_and_backslashes_are_escaped() {
        let options = AgentOptions {
            config: Some("/etc/class,hook.toml".into()),
            output: Some(r"/tmp/a\b".into()),
            file_name: Some("unit-%p".into()),
            plugins: vec!["coverage".into(), "/p/trace.wasm".into()],
            select: vec!["com.acme.**;!com.acme.gen.**".into()],
            grant: vec!["probes".into()],
            advice: Some("/tmp/a".into()),
            settings: Some(r#"{"a":1,"b":"\\n"}"#.into()),
            watch: Watch {
                when: Some(r#"arg[0] == "a,\n""#.into()),
                show: Some("arg, returned".into()),
                calls: Some(5),
                per_second: Some(6),
                about: Some("places".to_owned()),
                depth: Some(2),
            },
            event_files: EventFiles {
                max_size: Some("9M".into()),
                when_full: Some(WhenFull::Stop),
            },
            waits: true,
            per_loader: true,
            before_agents: true,
            on_error: Some("strict"),
            log: Some("info".into()),
            run: Some("r1".into()),
            failures: Some("/tmp/f".into()),
            jvm_events: Some("cpu:10ms;depth:9".into()),
            visit: Some("trace".into()),
            later: true,
            metaspace: Some(4_096),
            cache: Some("/tmp/c".into()),
            messages: Some("/tmp/m".into()),
        };
        let expected = r#"config=/etc/class\,hook.toml,output=/tmp/a\\b,plugin=coverage,plugin=/p/trace.wasm,select=com.acme.**;!com.acme.gen.**,grant=probes,advice=/tmp/a,cache=/tmp/c,messages=/tmp/m,file-name=unit-%p,settings={"a":1\,"b":"\\\\n"},when=arg[0] == "a\,\\n",show=arg\, returned,calls=5,calls-per-second=6,about=places,depth=2,max-size=9M,when-full=stop,waits=on,per-loader=on,before-agents=on,on-error=strict,log=info,run=r1,failures=/tmp/f,jvm-events=cpu:10ms;depth:9,visit=trace,later=on,metaspace=4096"#;
        assert_eq!(options.to_text(), expected);
    }
}
