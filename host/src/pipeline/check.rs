//! Checks a spliced class.

use std::time::{Duration, Instant};

use errors::codes;
use rewriter::{ClassFile, EditPlan, ProbeStorage};

use crate::helpers::needed;
use crate::plugin_failure::PluginFailure;
use crate::requests::PlannedClass;
use crate::stack::ScratchBuffers;

/// Checks that the class file `made` is `class` with the edits of the plan, unless the
/// configuration disables this. Returns the duration.
pub(super) fn self_check(
    class: &ClassFile<'_>,
    plan: &EditPlan,
    storage: &ProbeStorage<'_>,
    buffers: &mut ScratchBuffers,
    made: &[u8],
) -> Result<Duration, PluginFailure> {
    if !buffers.self_check {
        return Ok(Duration::ZERO);
    }
    let begun = Instant::now();
    let checked = rewriter::check_splice(class, plan, storage, made, &mut buffers.check_scratch);
    checked.map_err(|error| {
        let cause = format!("the result did not pass the self-check: {error}");
        PluginFailure::new(codes::H0303, cause)
    })?;
    Ok(begun.elapsed())
}

/// Checks that the helper classes have all members that the edited class `made` uses.
///
/// # Errors
/// If the JVM would fail to link the code. The error names the plugin that provides the helper
/// class.
pub(super) fn helper_uses(planned: &PlannedClass, made: &[u8]) -> Result<(), PluginFailure> {
    if !planned.needs_helpers() {
        return Ok(());
    }
    let class = ClassFile::read(made).map_err(|error| PluginFailure::unreadable(&error))?;
    planned.requests.iter().try_for_each(|asked| {
        let used = plan_rules::check_helper_uses(&class, needed(&asked.request));
        used.map_err(|error| {
            let cause = format!("code that is inserted: {error}");
            PluginFailure::new(codes::H0317, cause).by(&asked.plugin.name)
        })
    })
}
