//! Splices a plan into a class, with the fastest probe code that fits.

use errors::codes;
use rewriter::{ClassFile, EditPlan, ProbeStorage};

use super::check;
use crate::plugin_failure::PluginFailure;
use crate::spliced::Spliced;
use crate::stack::ScratchBuffers;
use crate::storage::HIT_METHOD;

/// Splices with the fastest probe code, and checks the result. If a method or branch becomes too
/// long, splices with shorter code.
pub(super) fn splice(
    class: &ClassFile<'_>,
    plan: &EditPlan,
    mut storage: ProbeStorage<'_>,
    buffers: &mut ScratchBuffers,
    out: &mut Vec<u8>,
) -> Result<Spliced, PluginFailure> {
    loop {
        let report = rewriter::splice(class, plan, &storage, &mut buffers.scratch, out)
            .map_err(|error| PluginFailure::new(codes::H0302, error.to_string()))?;
        let check_time = check::self_check(class, plan, &storage, buffers, out)?;
        let hits_call = matches!(storage, ProbeStorage::SharedMethods { .. });
        let spliced = Spliced::new(report, hits_call, check_time)?;
        match shorter(storage) {
            Some(shorter) if spliced.is_too_long() => storage = shorter,
            _ => return Ok(spliced),
        }
    }
}

/// Returns the same storage with shorter code for a probe, if there is any.
fn shorter(storage: ProbeStorage<'_>) -> Option<ProbeStorage<'_>> {
    match storage {
        ProbeStorage::SharedArray { owner, field } => Some(ProbeStorage::SharedMethods {
            owner,
            field,
            method: HIT_METHOD,
        }),
        ProbeStorage::ClassArray { runtime, key } => {
            Some(ProbeStorage::ClassMethods { runtime, key })
        }
        _ => None,
    }
}
