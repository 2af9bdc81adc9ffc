//! Warnings about rules and patterns that match no loaded class.

use agent_connection::agent::Agent;
use agent_launch::settings::PluginSettings;
use class_selection::nearest::{meant, nearest};
use control::Request;
use control::message::{Plugin, Status};
use errors::{Error, Warning, codes};
use standard_streams::show::complain;

use crate::unchanged_classes::UnchangedClasses;

/// Warns of each class that a plugin's rules or patterns name and that is not loaded.
///
/// # Errors
/// As [`Agent::connect`] and [`Agent::ask`].
pub fn warn(pid: i32, settings: &PluginSettings) -> Result<(), Error> {
    let mut agent = Agent::connect(pid)?;
    let status: Status = agent.ask_for(&Request::Status)?;
    if status
        .plugins
        .iter()
        .all(|plugin| plugin.unmatched.is_empty())
    {
        return Ok(());
    }
    let classes = agent.classes()?.into_iter();
    let names: Vec<String> = classes.map(|class| class.name).collect();
    for plugin in status.plugins {
        for class in plugin.unmatched {
            let withheld = UnchangedClasses::find(&mut agent, &class, settings);
            let what = match withheld {
                Some(_) => "sees no matching class",
                None => "no loaded class matches",
            };
            let text = format!("plugin {}: {what} {class}", plugin.name);
            let warning = Warning::new(codes::H0652, text);
            let warning = match (withheld, nearest(&class, &names)) {
                (Some(found), _) => warning
                    .with("found", found.found())
                    .with("help", found.help()),
                (None, Some(name)) => warning.with("nearest", name),
                (None, None) => warning,
            };
            let help = "its rules have no effect before such a class is loaded; the agent's last message reports if none was";
            complain(warning.with("help", help));
        }
    }
    Ok(())
}

/// Warns if no plugin has changed a loaded class, although each named class is loaded.
///
/// # Errors
/// As [`Agent::connect`] and [`Agent::ask`].
pub fn warn_of_nothing(pid: i32, settings: &PluginSettings) -> Result<(), Error> {
    let select = settings.select.as_slice();
    let mut agent = Agent::connect(pid)?;
    let status: Status = agent.ask_for(&Request::Status)?;
    let is_idle = |plugin: &Plugin| plugin.changed == 0 && plugin.unmatched.is_empty();
    if status.plugins.is_empty() || !status.plugins.iter().all(is_idle) {
        return Ok(());
    }
    let names: Vec<String> = match select {
        [] => Vec::new(),
        _ => agent
            .classes()?
            .into_iter()
            .map(|class| class.name)
            .collect(),
    };
    let mut parts = select
        .iter()
        .flat_map(|text| text.split(';'))
        .map(str::trim);
    let is_name = |part: &&str| !part.starts_with(['!', '@', '<']) && !part.contains(':');
    let withheld = parts.find_map(|part| {
        let glob = Some(part).filter(is_name)?;
        UnchangedClasses::find(&mut agent, glob, settings)
    });
    match withheld {
        Some(found) => complain(
            nothing_changed(select, &[])
                .with("found", found.found())
                .with("help", found.help()),
        ),
        None => complain(nothing_changed(select, &names)),
    }
    Ok(())
}

/// Returns the warning that no loaded class is changed, with names similar to `select`.
fn nothing_changed(select: &[String], classes: &[String]) -> Warning {
    let warning = Warning::new(codes::H0650, "no loaded class is changed");
    let warning = match select {
        [] => warning,
        _ => warning.with("found", format!("--select {}", select.join(" "))),
    };
    let parts = select.iter().flat_map(|text| text.split(';'));
    let nearest = parts.filter_map(|part| meant(part.trim(), classes, &[]));
    let warning = nearest.fold(warning, |warning, name| warning.with("nearest", name));
    let help =
        "selected classes that load later are changed; `classhook classes` lists the loaded ones";
    warning.with("help", help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_plugins_are_reported_with_the_nearest_class() {
        let select = ["Appp.**".to_owned()];
        let text = nothing_changed(&select, &["App".to_owned()]).to_string();
        assert!(text.contains("warning[H0650]"), "{text}");
        assert!(text.contains("nearest  App\n"), "{text}");
    }
}
