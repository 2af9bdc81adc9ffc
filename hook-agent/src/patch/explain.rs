//! A loaded class as text, with the edits that it holds.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::GlobalRef;
use crate::loaded_classes::LoadedClass;
use crate::patch::in_force::PatchCandidate;
use crate::patch::{dry_run, in_force};
use crate::retransform;
use control::classes::Plan;
use host::{ClassRequest, Explained, Explanation, Outcome};
use std::fmt::Write;

/// The class as text, with the edits of plugins in their places. The class is not changed: the JVM passes its class
/// file to a dry run, and the plugins are run on that.
pub(crate) fn explain(agent: &Agent, jvm: Jvm<'_>, class: &LoadedClass<'_>) -> Plan {
    let refused = |cause: String| Plan {
        cause,
        ..Plan::default()
    };
    let Some(global) = jvm.local.globalize(&class.class) else {
        return refused("the JVM has no memory for a reference".to_owned());
    };
    let plan = with_file(agent, jvm, class, &global);
    jvm.local.release(global);
    plan.unwrap_or_else(refused)
}

fn with_file(
    agent: &Agent,
    jvm: Jvm<'_>,
    class: &LoadedClass<'_>,
    global: &GlobalRef,
) -> Result<Plan, String> {
    let file = dry_run::class_file(jvm, global)
        .map_err(|error| format!("the JVM does not return its class file: {error}"))?;
    let loader = jvm.jvmti.class_loader(jvm.local, &class.class);
    let loader = loader.map_err(|error| error.to_string())?;
    let considered = PatchCandidate {
        loader: loader.as_ref(),
        name: &class.name,
        class_data: &file,
        is_load: false,
    };
    let patched = in_force::find(agent, jvm.local, considered);
    let mut text = String::new();
    if let Some((patched, _)) = &patched {
        let _ = writeln!(text, "// {}", in_force::label(patched)); // writing to a string cannot fail
    }
    let kept = agent.classes.reconstituted.find(&class.name, &file);
    let (bytes, original) = match &patched {
        Some((patched, prefixed)) => (prefixed, Some(patched.bytes.as_slice())),
        None => (&file, kept.as_deref()),
    };
    let found = retransform::location(agent, jvm, class, true);
    let request = ClassRequest {
        name: &class.name,
        loader: &agent.recorded_loader(jvm.local, loader.as_ref(), &class.loader),
        location: found.for_selectors(),
        bytes,
        original,
        retransforming: true,
    };
    let cause = write(agent, &request, &mut text)?;
    Ok(Plan { text, cause })
}

/// Writes the class with the edits. Returns the reason why a plugin's edits are missing, else an empty text.
fn write(agent: &Agent, request: &ClassRequest<'_>, text: &mut String) -> Result<String, String> {
    let (outcome, explanation) = match agent.plugins.current() {
        Some(set) => set
            .pipeline
            .explain(request, agent.results.table, &mut Vec::new()),
        None => (Outcome::Unchanged, Explanation::default()),
    };
    // The plan's locations refer to the class file that the plugins saw.
    let class = host::shown_class(request).map_err(|error| error.to_string())?;
    let remarks: Vec<_> = explanation.remarks.iter().map(Explained::remark).collect();
    let class_edits = explanation.class_edits.iter();
    let class_edits: Vec<_> = class_edits.map(|(by, edit)| (by.as_str(), edit)).collect();
    let written = class_text::plan(&class, &class_edits, &remarks, &explanation.skipped, text);
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
    let failures: Vec<String> = outcome.failures().iter().map(ToString::to_string).collect();
    Ok(failures.join("\n"))
}
