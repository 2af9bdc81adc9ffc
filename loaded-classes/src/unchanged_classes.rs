//! Loaded classes that plugins do not see, with the cause and the remedy.

use agent_connection::agent::Agent;
use agent_launch::settings::PluginSettings;
use control::classes::Details;
use control::message::Class;
use host::selector::{Selection, Verdict};
use host::{CodeSource, Loader, code_source};
use standard_streams::show::name;
use trace::numbers::counted;

/// Modules that the JVM creates for proxies. A class in one has no source location.
const OF_PROXIES: &str = "jrt:/jdk.proxy";

/// The reason why plugins do not see a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The class belongs to the JDK, and the plugins lack the grant for it.
    Jdk,
    /// The class has no source location.
    NoLocation,
    /// The selectors exclude the class.
    Selectors,
    /// The plugins see the class, which has no such method with code.
    NoMethod,
}

/// Requested classes that are loaded and unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnchangedClasses {
    first: String,
    count: usize,
    cause: Cause,
}

impl UnchangedClasses {
    /// Finds the loaded classes that match a glob. The result is `None` if no class matches, or the
    /// agent does not answer.
    #[must_use]
    pub fn find(agent: &mut Agent, glob: &str, settings: &PluginSettings) -> Option<Self> {
        let details = Details {
            source: true,
            ..Details::default()
        };
        Self::of(&agent.listed(Some(glob), details).ok()?, settings)
    }

    /// Returns the cause for a list of loaded classes, decided by the first class. An empty list has
    /// no cause.
    #[must_use]
    pub fn of(classes: &[Class], settings: &PluginSettings) -> Option<Self> {
        let first = classes.first()?;
        Some(Self {
            first: first.name.clone(),
            count: classes.len(),
            cause: cause(first, settings),
        })
    }

    /// Describes the classes and the cause.
    #[must_use]
    pub fn found(&self) -> String {
        let first = name(&self.first);
        let classes = match self.count {
            1 => first.to_string(),
            count => format!("{first} and {} more", counted(count - 1, "class")),
        };
        let cause = match self.cause {
            Cause::Jdk => "loaded, and in the JDK, for which plugins need a grant",
            Cause::NoLocation => "loaded, and without a source location, as proxies are",
            Cause::Selectors => "loaded, and left out by --select",
            Cause::NoMethod => "loaded, and without such a method with code",
        };
        format!("{classes}: {cause}")
    }

    /// Returns the remedy.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self.cause {
            Cause::Jdk => "add --grant boot",
            Cause::NoLocation => "--select location:any includes such classes",
            Cause::Selectors => "select them as well",
            Cause::NoMethod => {
                "list its methods with `classhook attach PID` and `classhook classes PID CLASS --methods`; abstract and native ones have no code"
            }
        }
    }
}

fn cause(class: &Class, settings: &PluginSettings) -> Cause {
    let selectors: Vec<&str> = settings
        .select
        .iter()
        .flat_map(|text| text.split(';'))
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let selection = Selection::parse(&selectors).unwrap_or_default();
    let loader = match class.loader.split('@').next().unwrap_or_default() {
        "boot" => Loader::Boot,
        "platform" => Loader::Platform,
        "app" => Loader::App,
        other => Loader::Other(other.replace('.', "/").into()),
    };
    let is_inner = matches!(loader, Loader::Boot | Loader::Platform);
    if is_inner && !settings.grant.iter().any(|grant| grant == "boot") {
        return Cause::Jdk;
    }
    let source = class.source.as_deref().unwrap_or_default();
    let has_location = !source.is_empty() && !source.starts_with(OF_PROXIES);
    if !is_inner && !has_location && !selection.any_location() {
        return Cause::NoLocation;
    }
    let place = code_source::path(source);
    let location = match has_location {
        true => CodeSource::At(&place),
        false => CodeSource::None,
    };
    let internal = class.name.replace('.', "/");
    let by_name = selection.matches_name(internal.as_bytes(), &loader);
    match by_name == Verdict::No || !selection.matches_location(location) {
        true => Cause::Selectors,
        false => Cause::NoMethod,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, loader: &str, source: &str) -> Class {
        Class {
            name: name.to_owned(),
            loader: loader.to_owned(),
            source: Some(source.to_owned()),
            ..Class::default()
        }
    }

    fn settings(select: &[&str], grant: &[&str]) -> PluginSettings {
        PluginSettings {
            select: select.iter().map(|text| (*text).to_owned()).collect(),
            grant: grant.iter().map(|text| (*text).to_owned()).collect(),
            ..PluginSettings::default()
        }
    }

    #[test]
    fn cause_is_reported_with_its_remedy() {
        let map = class("java.util.HashMap", "boot", "jrt:/java.base");
        let driver = class("java.sql.Driver", "platform", "jrt:/java.sql");
        let proxy = class("jdk.proxy2.$Proxy5", "app", "jrt:/jdk.proxy2");
        let made = class("com.acme.Made", "com.acme.Loader@1f", "");
        let app = class("com.acme.App", "app", "file:/w/app.jar");
        for (class, select, grant, expected) in [
            (&map, &[][..], &[][..], Cause::Jdk),
            (&driver, &["location:any"], &[], Cause::Jdk),
            (&map, &[], &["boot"], Cause::NoMethod),
            (&proxy, &[], &[], Cause::NoLocation),
            (&proxy, &["location:any"], &[], Cause::NoMethod),
            (&made, &["com.acme.**"], &[], Cause::NoLocation),
            (&app, &["org.**"], &[], Cause::Selectors),
            (&app, &["a.**;!location:app.jar"], &[], Cause::Selectors),
            (&app, &[], &[], Cause::NoMethod),
        ] {
            assert_eq!(
                cause(class, &settings(select, grant)),
                expected,
                "{class:?}"
            );
        }
        let told = UnchangedClasses::of(&[proxy, made], &settings(&[], &[])).unwrap();
        assert_eq!(
            told.found(),
            "jdk.proxy2.$Proxy5 and 1 class more: loaded, and without a source location, as proxies are"
        );
        assert_eq!(told.help(), "--select location:any includes such classes");
    }
}
