//! Rules and patterns that no class matches, told with the names of classes that may be meant.

use control::Request;
use control::classes::Details;
use control::message::{Classes, Status};

use crate::agent::Agent;
use crate::problem::Problem;
use crate::show::complain;
use crate::warnings::Warning;

/// How like a name must be to be meant, from 0 to 1.
const LIKE: f64 = 0.8;

/// Warns of each class that a plugin's rules or patterns name and that is not among the loaded ones.
///
/// # Errors
/// As [`Agent::connect`] and [`Agent::ask`].
pub fn warn(pid: i32) -> Result<(), Problem> {
    let mut agent = Agent::connect(pid)?;
    let status: Status = agent.ask_for(&Request::Status)?;
    if status
        .plugins
        .iter()
        .all(|plugin| plugin.unmatched.is_empty())
    {
        return Ok(());
    }
    let classes: Classes = agent.ask_for(&Request::Classes {
        filter: None,
        changed: false,
        skip: 0,
        limit: usize::MAX,
        details: Details::default(),
    })?;
    let names: Vec<String> = classes
        .classes
        .into_iter()
        .map(|class| class.name)
        .collect();
    for plugin in status.plugins {
        for class in plugin.unmatched {
            let text = format!("plugin {}: no loaded class matches {class}", plugin.name);
            let warning = Warning::new("H0652", text);
            let warning = match nearest(&class, &names) {
                Some(name) => warning.with("nearest", name),
                None => warning,
            };
            let help = "what names it has no effect before such a class is loaded; the agent's last words say if none was";
            complain(warning.with("help", help));
        }
    }
    Ok(())
}

/// The class whose name is most like this selector, if one is.
#[must_use]
pub fn nearest(class: &str, classes: &[String]) -> Option<String> {
    let wanted = class.trim_end_matches(['*', '.']);
    let likeness = |name: &String| strsim::jaro_winkler(wanted, name);
    let best = classes
        .iter()
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(best) > LIKE).then(|| best.clone())
}
