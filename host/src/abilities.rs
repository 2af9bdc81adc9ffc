//! Capability = import: what this agent offers, and what a grant covers.

use wasmtime::Engine;
use wasmtime::component::{Component, types::ComponentItem};

use crate::HostError;
use crate::config::PluginConfig;

/// The version of `wit/plugin.wit`.
const OFFERED: &str = "0.1.0";
/// The interface that a plugin must export.
const EXPORTED: &str = "classhook:plugin/transformer";

/// An interface that a plugin may import.
struct Ability {
    interface: &'static str,
    /// What must be granted for it; none for what every plugin may do.
    grant: Option<(&'static str, &'static str)>,
    functions: &'static [&'static str],
}

const ABILITIES: [Ability; 6] = [
    Ability {
        interface: "classhook:plugin/types",
        grant: None,
        functions: &[],
    },
    Ability {
        interface: "classhook:plugin/host",
        grant: None,
        functions: &["log", "log-enabled"],
    },
    Ability {
        interface: "classhook:plugin/class-file",
        grant: None,
        functions: &[
            "[method]class-view.name",
            "[method]class-view.super-name",
            "[method]class-view.interfaces",
            "[method]class-view.access-flags",
            "[method]class-view.major-version",
            "[method]class-view.source-file",
            "[method]class-view.loader",
            "[method]class-view.fingerprint",
            "[method]class-view.retransforming",
            "[method]class-view.annotations",
            "[method]class-view.methods",
            "[method]class-view.method",
            "[method]class-view.methods-with-code",
            "[method]class-view.code",
            "[method]class-view.sites",
            "[method]method-view.annotations",
            "[method]method-view.instructions",
            "[method]method-view.lines",
            "[method]method-view.handlers",
            "[method]method-view.switch-targets",
            "[method]method-view.member",
            "[method]method-view.entry",
            "[method]method-view.returns",
            "[method]method-view.before",
            "[method]method-view.fall-throughs",
            "[method]method-view.jumps",
            "[method]method-view.unwind",
            "[method]method-view.at",
        ],
    },
    Ability {
        interface: "classhook:plugin/probes",
        grant: Some(("probes", "sets probes in the classes you select")),
        functions: &[
            "[method]plan.hit",
            "[method]plan.count",
            "[method]plan.span",
            "[method]plan.note",
            "[constructor]capture",
            "[method]capture.argument",
            "[method]capture.arguments",
            "[method]capture.return-value",
            "[method]capture.thrown-class",
            "[method]capture.limit",
            "[method]capture.sum-up",
        ],
    },
    Ability {
        interface: "classhook:plugin/rewrite",
        grant: Some((
            "rewrite",
            "changes what the methods do in the classes you select",
        )),
        functions: &[
            "[constructor]snippet",
            "[method]snippet.load-this",
            "[method]snippet.load-argument",
            "[method]snippet.push-int",
            "[method]snippet.push-long",
            "[method]snippet.push-float",
            "[method]snippet.push-double",
            "[method]snippet.push-string",
            "[method]snippet.push-class",
            "[method]snippet.push-null",
            "[method]snippet.invoke",
            "[method]snippet.field",
            "[method]snippet.with-type",
            "[method]snippet.op",
            "[method]snippet.increment",
            "[method]snippet.new-label",
            "[method]snippet.place",
            "[method]snippet.jump",
            "insert",
            "replace-body",
            "wrap",
            "redirect-call",
            "redirect-field",
            "redirect-allocation",
            "allocate",
            "remove",
        ],
    },
    Ability {
        interface: "classhook:plugin/structure",
        grant: Some((
            "structure",
            "adds members, interfaces and annotations to the classes you select, and renames members",
        )),
        functions: &[
            "[constructor]annotation",
            "[method]annotation.put",
            "[method]annotation.put-array",
            "[method]annotation.nest",
            "[method]annotation.nest-array",
            "add-field",
            "add-method",
            "add-interface",
            "annotate-class",
            "annotate-field",
            "annotate-method",
            "rename-member",
        ],
    },
];

/// What must be granted for an import, and what it then may do.
pub fn grant_for(import: &str) -> Option<(&'static str, &'static str)> {
    let interface = import.split_once('@').map_or(import, |(name, _)| name);
    let found = ABILITIES
        .iter()
        .find(|ability| ability.interface == interface);
    found?.grant
}

/// Compares what the component imports with what is offered and granted, and its exports with the role.
pub fn check(
    plugin: &PluginConfig,
    component: &Component,
    engine: &Engine,
) -> Result<(), HostError> {
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
    Err(HostError::new(
        "H0108",
        format!(
            "plugin `{}` is a component, but no Classhook plugin",
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

/// The functions of an imported interface.
pub fn functions(item: &ComponentItem, engine: &Engine) -> Vec<String> {
    let ComponentItem::ComponentInstance(interface) = item else {
        return Vec::new();
    };
    let functions = interface
        .exports(engine)
        .filter(|(_, item)| matches!(item.ty, ComponentItem::ComponentFunc(_)));
    functions.map(|(name, _)| name.to_owned()).collect()
}

fn check_import(
    plugin: &PluginConfig,
    import: &str,
    functions: &[String],
) -> Result<(), HostError> {
    let Some(ability) = ABILITIES
        .iter()
        .find(|ability| compatible(import, ability.interface))
    else {
        return Err(unknown(plugin, import, None));
    };
    if let Some(function) = functions
        .iter()
        .find(|function| !ability.functions.contains(&function.as_str()))
    {
        return Err(unknown(plugin, import, Some(function)));
    }
    match ability.grant {
        Some((grant, reason)) if !plugin.grant.iter().any(|granted| granted == grant) => {
            Err(not_granted(plugin, ability.interface, grant, reason))
        }
        _ => Ok(()),
    }
}

/// Whether `name` is `interface` in a version that this agent's can stand for.
fn compatible(name: &str, interface: &str) -> bool {
    match name
        .strip_prefix(interface)
        .map(|rest| rest.strip_prefix('@'))
    {
        Some(Some(version)) => version.starts_with("0.1."),
        _ => false,
    }
}

fn unknown(plugin: &PluginConfig, import: &str, function: Option<&str>) -> HostError {
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
    HostError::new(
        "H0107",
        format!(
            "plugin `{}` needs an ability this agent does not have",
            plugin.name
        ),
    )
    .with("needs", needs)
    .with("agent", agent)
    .with("help", help)
}

fn not_granted(plugin: &PluginConfig, interface: &str, grant: &str, reason: &str) -> HostError {
    let granted: Vec<String> = plugin
        .grant
        .iter()
        .map(|grant| format!("\"{grant}\""))
        .collect();
    let at = plugin
        .grant_line
        .map(|line| format!("   classhook.toml:{line}"))
        .unwrap_or_default();
    HostError::new(
        "H0203",
        format!("plugin `{}` asks for more than it was granted", plugin.name),
    )
    .with("imports", format!("{interface}   \"{reason}\""))
    .with("grant", format!("[{}]{at}", granted.join(", ")))
    .with(
        "help",
        format!("add \"{grant}\" to `grant` if you trust this plugin with that"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The functions of each interface in `wit/plugin.wit`, as components name them.
    fn written() -> Vec<(String, String)> {
        let (mut interface, mut resource) = (String::new(), None);
        let mut functions = Vec::new();
        for line in include_str!("../../wit/plugin.wit").lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [first, ..] if first.starts_with("constructor(") => {
                    let resource = resource.as_deref().unwrap_or_default();
                    functions.push((interface.clone(), format!("[constructor]{resource}")));
                }
                ["interface", name, "{"] => interface = format!("classhook:plugin/{name}"),
                ["resource", name, "{"] => resource = Some(name.to_string()),
                ["}"] if line.starts_with("  }") => resource = None,
                [name, func, ..] if func.starts_with("func(") => {
                    let name = name.trim_end_matches(':');
                    let name = match &resource {
                        Some(resource) => format!("[method]{resource}.{name}"),
                        None => name.to_owned(),
                    };
                    functions.push((interface.clone(), name));
                }
                _ => {}
            }
        }
        functions.retain(|(interface, _)| interface != EXPORTED);
        functions
    }

    #[test]
    fn what_is_offered_is_what_the_wit_says() {
        let listed = ABILITIES.iter().flat_map(|ability| {
            ability
                .functions
                .iter()
                .map(|function| (ability.interface.to_owned(), function.to_string()))
        });
        let (mut listed, mut written): (Vec<_>, _) = (listed.collect(), written());
        listed.sort();
        written.sort();
        assert_eq!(listed, written);
        assert!(listed.len() > 20);
    }

    #[test]
    fn every_capability_can_be_granted() {
        for (grant, _) in ABILITIES.iter().filter_map(|ability| ability.grant) {
            assert!(crate::config::CAPABILITIES.contains(&grant), "{grant}");
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
