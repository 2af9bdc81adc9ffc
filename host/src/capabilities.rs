//! Capabilities are imports: checks a component's imports against the offered interfaces and the
//! grants.

use std::sync::OnceLock;

use jvm_events::EventKind;
use jvm_events::request::requests;
use wasmtime::Engine;
use wasmtime::component::{Component, types::ComponentItem};

use crate::config::PluginConfig;
use errors::{Error, codes};

/// The version of `sdk/wit/plugin.wit`.
const OFFERED: &str = "0.1.0";
/// The interface that each plugin must export.
const EXPORTED: &str = "classhook:plugin/transformer";
/// The interfaces that a plugin may export in addition.
const REPORTER: &str = "classhook:plugin/reporter";
const OBSERVER: &str = "classhook:plugin/observer";

/// The interface whose functions insert probes.
const PROBES: &str = "classhook:plugin/probes";

/// An interface that a plugin may import.
struct Capability {
    interface: &'static str,
    /// The grant that the interface needs, with its effect. `None` for interfaces open to every
    /// plugin.
    grant: Option<(&'static str, &'static str)>,
}

const ABILITIES: [Capability; 14] = [
    Capability {
        interface: "classhook:plugin/types",
        grant: None,
    },
    Capability {
        interface: "classhook:plugin/host",
        grant: None,
    },
    Capability {
        interface: "classhook:plugin/class-file",
        grant: None,
    },
    Capability {
        interface: "classhook:plugin/declarations",
        grant: None,
    },
    Capability {
        interface: "classhook:plugin/queries",
        grant: None,
    },
    Capability {
        interface: "classhook:plugin/plans",
        grant: None,
    },
    Capability {
        interface: "classhook:plugin/recorded",
        grant: None,
    },
    Capability {
        interface: JVM_EVENTS,
        grant: None,
    },
    Capability {
        interface: JVM_REQUESTS,
        grant: None,
    },
    Capability {
        interface: PROBES,
        grant: Some(("probes", "sets probes in the classes you select")),
    },
    Capability {
        interface: "classhook:plugin/rewrite",
        grant: Some((
            "rewrite",
            "changes what the methods do in the classes you select",
        )),
    },
    Capability {
        interface: "classhook:plugin/structure",
        grant: Some((
            "structure",
            "adds members, interfaces, annotations and attributes to the classes you select, and renames members and types",
        )),
    },
    Capability {
        interface: "classhook:plugin/raw",
        grant: Some((
            "raw",
            "replaces the whole class files of the classes you select",
        )),
    },
    Capability {
        interface: "classhook:plugin/helpers",
        grant: Some((
            "helpers",
            "adds classes of its own to the packages of the classes you select",
        )),
    },
];

/// The interfaces whose functions need separate grants.
const JVM_EVENTS: &str = "classhook:plugin/jvm-events";
const JVM_REQUESTS: &str = "classhook:plugin/jvm-requests";

/// Iterates over the functions of an interface in `sdk/wit/plugin.wit`, with the names that components
/// use.
fn offered(interface: &str) -> impl Iterator<Item = &'static str> {
    let all =
        OFFERED_FUNCTIONS.get_or_init(|| functions_of(include_str!("../../sdk/wit/plugin.wit")));
    let of = all.iter().filter(move |(found, _)| found == interface);
    of.map(|(_, function)| function.as_str())
}

static OFFERED_FUNCTIONS: OnceLock<Vec<(String, String)>> = OnceLock::new();

/// Parses the interfaces and functions of a WIT package that has one function per line.
fn functions_of(wit: &str) -> Vec<(String, String)> {
    let (mut interface, mut resource) = (String::new(), None);
    let mut functions = Vec::new();
    for line in wit.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [first, ..] if first.starts_with("constructor(") => {
                let resource = resource.unwrap_or_default();
                functions.push((interface.clone(), format!("[constructor]{resource}")));
            }
            ["interface", name, "{"] => interface = format!("classhook:plugin/{name}"),
            ["resource", name, "{"] => resource = Some(*name),
            ["}"] if line.starts_with("  }") => resource = None,
            [name, func, ..] if func.starts_with("func(") => {
                let name = name.trim_end_matches(':');
                let name = match resource {
                    Some(resource) => format!("[method]{resource}.{name}"),
                    None => name.to_owned(),
                };
                functions.push((interface.clone(), name));
            }
            _ => {}
        }
    }
    functions
}

/// Returns the grants that these functions of an import need, each with its effect.
pub fn grants_for(import: &str, functions: &[String]) -> Vec<(&'static str, &'static str)> {
    let interface = import.split_once('@').map_or(import, |(name, _)| name);
    let is_imported = |name| functions.iter().any(|function| function == name);
    match interface {
        JVM_EVENTS => {
            let kinds = EventKind::ALL.into_iter();
            let kinds = kinds.filter(|kind| is_imported(kind.name()));
            kinds.map(|kind| (kind.grant(), kind.effect())).collect()
        }
        JVM_REQUESTS => {
            let requests = requests::ALL.into_iter();
            let requests = requests.filter(|request| is_imported(request.name));
            requests
                .map(|request| (request.grant, request.text))
                .collect()
        }
        _ => {
            let mut abilities = ABILITIES.iter();
            let found = abilities.find(|ability| ability.interface == interface);
            found.and_then(|found| found.grant).into_iter().collect()
        }
    }
}

/// Checks that the component's imports are offered and granted, and that it exports the required
/// interfaces.
pub fn check(plugin: &PluginConfig, component: &Component, engine: &Engine) -> Result<(), Error> {
    let world = component.component_type();
    for (import, item) in world.imports(engine) {
        check_import(plugin, import, &functions(&item.ty, engine))?;
    }
    if world
        .exports(engine)
        .any(|(name, _)| compatible(name, EXPORTED))
    {
        return Ok(());
    }
    let exports: Vec<&str> = world.exports(engine).map(|(name, _)| name).collect();
    let found = if exports.is_empty() {
        "no exports".to_owned()
    } else {
        exports.join(", ")
    };
    Err(Error::mistake(
        codes::H0108,
        format!(
            "plugin `{}` is a component, but not a Classhook plugin",
            plugin.name
        ),
    )
    .with(
        "expected",
        format!("the export {EXPORTED}@{OFFERED} (world transform-plugin)"),
    )
    .with("found", found)
    .with("help", "export a Transformer with classhook_sdk::export!"))
}

/// Returns the full name of the exported interface `reporter`, or `None` if the component does not
/// export it.
pub fn reporter(component: &Component, engine: &Engine) -> Option<String> {
    let world = component.component_type();
    let mut exports = world.exports(engine);
    let found = exports.find(|(name, _)| is_reporter(name));
    found.map(|(name, _)| name.to_owned())
}

/// Returns the full name of the exported interface `observer`, or `None` if the component does not
/// export it.
pub fn observer(component: &Component, engine: &Engine) -> Option<String> {
    let world = component.component_type();
    let mut exports = world.exports(engine);
    let found = exports.find(|(name, _)| is_observer(name));
    found.map(|(name, _)| name.to_owned())
}

/// Checks whether a component imports requests to the JVM.
pub fn makes_requests(component: &Component, engine: &Engine) -> bool {
    let world = component.component_type();
    let mut imports = world.imports(engine);
    imports.any(|(name, _)| compatible(name, JVM_REQUESTS))
}

/// Checks whether a component imports the function that requests spans.
pub fn records_spans(component: &Component, engine: &Engine) -> bool {
    let world = component.component_type();
    let mut imports = world.imports(engine);
    imports.any(|(name, item)| {
        compatible(name, PROBES)
            && functions(&item.ty, engine)
                .iter()
                .any(|name| name == "span")
    })
}

/// The grants with which a plugin can change the program.
const CHANGING: [&str; 4] = ["rewrite", "structure", "raw", "helpers"];

/// Checks whether a component imports a capability with which it can change the program.
pub fn changes_programs(component: &Component, engine: &Engine) -> bool {
    let world = component.component_type();
    let mut imports = world.imports(engine);
    imports.any(|(name, item)| {
        let granted = grants_for(name, &functions(&item.ty, engine));
        granted.iter().any(|(grant, _)| CHANGING.contains(grant))
    })
}

/// Checks whether a component imports requests that the JVM answers only to agents loaded at its
/// start.
pub fn requests_owners(component: &Component, engine: &Engine) -> bool {
    let world = component.component_type();
    let mut imports = world.imports(engine);
    imports.any(|(name, item)| {
        let granted = grants_for(name, &functions(&item.ty, engine));
        granted
            .iter()
            .any(|(grant, _)| *grant == requests::MONITORS.grant)
    })
}

/// Checks whether a name is a compatible version of the interface `observer`.
pub fn is_observer(name: &str) -> bool {
    compatible(name, OBSERVER)
}

/// Checks whether a name is a compatible version of the interface `reporter`.
pub fn is_reporter(name: &str) -> bool {
    compatible(name, REPORTER)
}

/// Returns the functions of an imported interface.
pub fn functions(item: &ComponentItem, engine: &Engine) -> Vec<String> {
    let ComponentItem::ComponentInstance(interface) = item else {
        return Vec::new();
    };
    let functions = interface
        .exports(engine)
        .filter(|(_, item)| matches!(item.ty, ComponentItem::ComponentFunc(_)));
    functions.map(|(name, _)| name.to_owned()).collect()
}

fn check_import(plugin: &PluginConfig, import: &str, functions: &[String]) -> Result<(), Error> {
    let Some(ability) = ABILITIES
        .iter()
        .find(|ability| compatible(import, ability.interface))
    else {
        return Err(unknown(plugin, import, None));
    };
    if let Some(function) = functions
        .iter()
        .find(|function| !offered(ability.interface).any(|name| name == function.as_str()))
    {
        return Err(unknown(plugin, import, Some(function)));
    }
    let mut grants = grants_for(import, functions).into_iter();
    let missing = grants.find(|(grant, _)| !plugin.grant.iter().any(|granted| granted == grant));
    match missing {
        Some((grant, reason)) => Err(not_granted(plugin, ability.interface, grant, reason)),
        None => Ok(()),
    }
}

/// Checks whether `name` is `interface` in a version that this agent implements.
fn compatible(name: &str, interface: &str) -> bool {
    match name
        .strip_prefix(interface)
        .map(|rest| rest.strip_prefix('@'))
    {
        Some(Some(version)) => version.starts_with("0.1."),
        _ => false,
    }
}

fn unknown(plugin: &PluginConfig, import: &str, function: Option<&str>) -> Error {
    let needs = match function {
        Some(function) => format!(
            "{import}, {}",
            function
                .trim_start_matches("[method]")
                .trim_start_matches("[constructor]")
        ),
        None => import.to_owned(),
    };
    let known = ABILITIES
        .iter()
        .any(|ability| import.split('@').next() == Some(ability.interface));
    let agent = match (import.split('@').next(), known) {
        (Some(interface), true) => format!(
            "classhook {} offers {interface}@{OFFERED}",
            env!("CARGO_PKG_VERSION")
        ),
        _ => {
            let offered: Vec<&str> = ABILITIES.iter().map(|ability| ability.interface).collect();
            format!(
                "classhook {} offers {}",
                env!("CARGO_PKG_VERSION"),
                offered.join(", ")
            )
        }
    };
    let help = if import.starts_with("classhook:plugin/") {
        "upgrade the agent, or build the plugin with the SDK of this version"
    } else {
        "plugins cannot reach files, clocks, random numbers or the network: build for wasm32-unknown-unknown"
    };
    Error::mistake(
        codes::H0107,
        format!(
            "plugin `{}` needs a capability that this agent does not have",
            plugin.name
        ),
    )
    .with("needs", needs)
    .with("agent", agent)
    .with("help", help)
}

fn not_granted(plugin: &PluginConfig, interface: &str, grant: &str, reason: &str) -> Error {
    let granted: Vec<String> = plugin
        .grant
        .iter()
        .map(|grant| format!("\"{grant}\""))
        .collect();
    let at = plugin
        .grant_line
        .map(|line| format!("   classhook.toml:{line}"))
        .unwrap_or_default();
    Error::mistake(
        codes::H0203,
        format!(
            "plugin `{}` needs a grant that it does not have",
            plugin.name
        ),
    )
    .with("imports", format!("{interface}   \"{reason}\""))
    .with("grant", format!("[{}]{at}", granted.join(", ")))
    .with(
        "help",
        format!("if you trust this plugin: --grant {grant}, or \"{grant}\" in `grant`"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_the_wit_is_offered() {
        let text = include_str!("../../sdk/wit/plugin.wit");
        let functions =
            |text: &str| text.matches(": func(").count() + text.matches("constructor(").count();
        let (imported, exported) = text.split_once("interface transformer").expect("the role");
        let offered = ABILITIES
            .iter()
            .flat_map(|ability| offered(ability.interface));
        assert_eq!(offered.count(), functions(imported));
        let (exported, observer) = exported.split_once("interface observer").expect("the role");
        assert_eq!((functions(exported), functions(observer)), (3, 3));
        for (interface, function) in [
            ("host", "log-enabled"),
            ("class-file", "[method]class-view.name"),
            ("class-file", "[method]method-view.returns"),
            ("declarations", "annotations"),
            ("queries", "find"),
            ("plans", "[method]plan.note"),
            ("recorded", "add-rows"),
            ("probes", "span"),
            ("probes", "hit"),
            ("structure", "rename-type"),
            ("raw", "replace"),
            ("helpers", "define"),
        ] {
            let interface = format!("classhook:plugin/{interface}");
            assert!(
                super::offered(&interface).any(|name| name == function),
                "{function}"
            );
        }
    }

    #[test]
    fn every_capability_can_be_granted() {
        let interfaces = ABILITIES.iter().filter_map(|ability| ability.grant);
        for (grant, _) in interfaces {
            assert!(crate::config::CAPABILITIES.contains(&grant), "{grant}");
        }
    }

    #[test]
    fn every_subscription_has_its_own_grant() {
        for kind in EventKind::ALL {
            let import = format!("{JVM_EVENTS}@0.1.0");
            let functions = [kind.name().to_owned(), "frames".to_owned()];
            let grants = grants_for(&import, &functions);
            assert_eq!(grants, [(kind.grant(), kind.effect())]);
            assert!(crate::config::CAPABILITIES.contains(&kind.grant()));
        }
    }

    #[test]
    fn each_subscription_and_request_is_a_function_of_the_interface() {
        let functions = |interface| super::offered(interface).collect::<Vec<_>>();
        let mut subscriptions = functions(JVM_EVENTS);
        subscriptions.retain(|function| !["name", "frames", "method"].contains(function));
        assert_eq!(subscriptions, EventKind::ALL.map(EventKind::name));
        assert_eq!(
            functions(JVM_REQUESTS),
            requests::ALL.map(|request| request.name)
        );
    }

    #[test]
    fn every_request_has_its_own_grant() {
        for request in requests::ALL {
            let import = format!("{JVM_REQUESTS}@0.1.0");
            let grants = grants_for(&import, &[request.name.to_owned()]);
            assert_eq!(grants, [(request.grant, request.text)]);
            assert!(crate::config::CAPABILITIES.contains(&request.grant));
        }
    }

    #[test]
    fn versions_of_the_same_minor_are_compatible() {
        for (name, fits) in [
            ("classhook:plugin/host@0.1.0", true),
            ("classhook:plugin/host@0.1.7", true),
            ("classhook:plugin/host@0.2.0", false),
            ("classhook:plugin/host@1.0.0", false),
            ("classhook:plugin/host", false),
            ("classhook:plugin/hosts@0.1.0", false),
        ] {
            assert_eq!(compatible(name, "classhook:plugin/host"), fits, "{name}");
        }
    }
}
