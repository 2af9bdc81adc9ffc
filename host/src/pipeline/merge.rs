//! Merges the plans of all plugins, assigns array indices to their probes, and generates the code
//! of spans and counters.

use errors::codes;
use jvms::modified_utf8::Utf8;
use plan_rules::PlanRequest;
use probes::{HitCode, ProbeTable, Registration};
use rewriter::{ClassEdit, ClassFile, EditPlan, MethodIndex, PluginPlan, ProbeStorage};
use smallvec::SmallVec;

use crate::class::TransformedClass;
use crate::class_array::{self, ClassProbes};
use crate::event;
use crate::natives;
use crate::plugin::Plugin;
use crate::plugin_failure::PluginFailure;
use crate::requests::{PlannedClass, PluginRequest};
use crate::reusable_buffers::ReusableBuffers;
use crate::span::{self, LeftAlone};
use crate::storage::{HIT_METHOD, HITS_FIELD, Storage, write_array_owner};

// The probes of one plugin in a class fit into one array.
const _: () = assert!(plan_rules::limits::MAX_EDITS == probes::ARRAY_LENGTH);

/// The storage of the probes of one class.
pub(super) enum ProbeArray {
    /// The array of the helper class with this name.
    Shared(String),
    /// The array of the helper class with this name, which the class's methods write to.
    Called(String),
    /// The class's own array, which it requests with this text.
    Own(Vec<u8>),
}

impl ProbeArray {
    /// Returns the array with this number, for this kind of hit code. Reuses the memory of an
    /// earlier name.
    fn shared(array: u16, code: HitCode, mut owner: String) -> Self {
        write_array_owner(array, &mut owner);
        match code {
            HitCode::Store => Self::Shared(owner),
            HitCode::Call => Self::Called(owner),
        }
    }

    /// Converts to the rewriter's type.
    pub(super) fn storage(&self) -> ProbeStorage<'_> {
        match self {
            Self::Shared(owner) => ProbeStorage::SharedArray {
                owner,
                field: HITS_FIELD,
            },
            Self::Called(owner) => ProbeStorage::SharedMethods {
                owner,
                field: HITS_FIELD,
                method: HIT_METHOD,
            },
            Self::Own(key) => ProbeStorage::ClassArray {
                runtime: class_array::RUNTIME,
                key: Utf8::new(key),
            },
        }
    }

    /// Leaves the memory of its name to the next class.
    pub(super) fn leave_name(self, memory: &mut String) {
        if let Self::Shared(owner) | Self::Called(owner) = self {
            *memory = owner;
        }
    }
}

/// One plan of all plugins.
pub(super) struct MergedPlan {
    /// The storage of the probes, which are numbered by its indices.
    pub(super) array: ProbeArray,
    /// The merged plan.
    pub(super) plan: EditPlan,
    /// Methods that lack all edits, by their indices in the class that the plugins saw.
    pub(super) skipped: LeftAlone,
    /// Methods that lack a requested span, by the same indices.
    pub(super) partly: LeftAlone,
}

/// A value for each plugin. Plugins are few.
type OfEach<T> = SmallVec<[T; 4]>;

/// Merges the plans of all plugins, in the memory of an earlier plan. The plan fits the class that
/// the plugins saw, or else the class file `there`; a plugin may have handed it over.
pub(super) fn merge(
    planned: &PlannedClass,
    (there, by): (Option<&ClassFile<'_>>, Option<&str>),
    storage: Storage<'_>,
    memory: &mut ReusableBuffers,
) -> Result<MergedPlan, PluginFailure> {
    let PlannedClass {
        class, requests, ..
    } = planned;
    if matches!(storage, Storage::Own(_)) {
        expect_hits_alone(requests)?;
    }
    let failure = |plugin: &Plugin, cause| PluginFailure::new(codes::H0304, cause).by(&plugin.name);
    let table = match storage {
        Storage::Shared(table) => Some(table),
        Storage::Own(_) => None,
    };
    let asking = || requests.iter().filter(|asked| asked.request.hits > 0);
    let wanted: OfEach<_> = asking()
        .map(|asked| (asked.plugin.name.as_str(), asked.request.hits))
        .collect();
    let owner = std::mem::take(&mut memory.owner);
    let (array, bases) = match asking().next() {
        None => (ProbeArray::shared(0, HitCode::Store, owner), OfEach::new()),
        Some(first) => match storage {
            Storage::Shared(table) => in_table(class, &wanted, table, owner),
            Storage::Own(probes) => on_its_own(class, &wanted, probes),
        }
        .map_err(|cause| failure(&first.plugin, cause))?,
    };
    let mut bases = bases.into_iter();
    let parts: OfEach<_> = requests
        .iter()
        .map(|PluginRequest { plugin, request }| PluginPlan {
            by: &plugin.name,
            plan: &request.plan,
            hits: match request.hits {
                0 => 0,
                _ => bases.next().unwrap_or_default(),
            },
        })
        .collect();
    let mut merged = EditPlan::merge_with(&parts, std::mem::take(&mut memory.plan))
        .map_err(|conflict| PluginFailure::new(codes::H0304, conflict.to_string()))?;
    // Events come last, so that a call that another plugin's code replaces is not reported.
    let mut left_alone = LeftAlone::new();
    for PluginRequest { plugin, request } in requests {
        let Some(table) = table else { break };
        expect_bodies_kept(&merged, class, &plugin.name, request)?;
        let added = span::add(&mut merged, class, plugin, request, table);
        let added = added.and_then(|mut left_alone| {
            left_alone.extend(event::add(&mut merged, class, plugin, request, table)?);
            Ok(left_alone)
        });
        left_alone.extend(added.map_err(|refused| {
            PluginFailure::new(codes::H0307, refused.cause)
                .by(&plugin.name)
                .in_method(class.method_name(refused.method))
        })?);
    }
    let mut skipped = LeftAlone::new();
    if let Some(there) = there {
        let (transferred, refused) = class_versions::transfer(&merged, class.class(), there);
        merged = transferred;
        skipped.extend(refused.into_iter().map(|(method, reason)| match by {
            None => (method, reason.to_string()),
            Some(by) => (method, format!("plugin `{by}` replaced its code: {reason}")),
        }));
    }
    let mut partly = LeftAlone::new();
    if let Some(table) = table {
        let there = there.unwrap_or(class.class());
        partly = natives::add(&mut merged, planned, there, table);
    }
    partly.extend(left_alone);
    Ok(MergedPlan {
        array,
        plan: merged,
        skipped,
        partly,
    })
}

/// Checks that no plugin replaces the body of a method in which another one records calls or
/// events, whose bcis would be unknown.
fn expect_bodies_kept(
    merged: &EditPlan,
    class: &TransformedClass,
    plugin: &str,
    request: &PlanRequest,
) -> Result<(), PluginFailure> {
    let spans = request.spans.as_slice().iter().map(|span| span.method);
    let events = request.events.iter().map(|event| event.point.method);
    let replaced = |method: &MethodIndex| {
        let mut edits = merged.class_edits().iter();
        edits.any(|edit| {
            matches!(edit, ClassEdit::ReplaceBody { .. }) && edit.method() == Some(*method)
        })
    };
    match spans.chain(events).find(replaced) {
        None => Ok(()),
        Some(method) => {
            let cause = "another plugin replaces its body".to_owned();
            let failure = PluginFailure::new(codes::H0307, cause).by(plugin);
            Err(failure.in_method(class.method_name(method)))
        }
    }
}

/// Rejects counts, spans and events, which need the agent.
fn expect_hits_alone(requests: &[PluginRequest]) -> Result<(), PluginFailure> {
    let more = |request: &PlanRequest| {
        request.counts > 0 || !request.spans.as_slice().is_empty() || !request.events.is_empty()
    };
    match requests.iter().find(|asked| more(&asked.request)) {
        None => Ok(()),
        Some(PluginRequest { plugin, .. }) => {
            let cause = "it requests counts, spans or events, which only the agent records";
            Err(PluginFailure::new(codes::H0306, cause.to_owned()).by(&plugin.name))
        }
    }
}

/// The array of the probes, and the first index for each plugin.
type Placed = (ProbeArray, OfEach<u32>);

/// Reserves indices for the probes of each plugin in an array of the helper classes. `owner` is
/// memory for the name of its class.
fn in_table(
    class: &TransformedClass,
    wanted: &[(&str, u32)],
    table: &ProbeTable,
    owner: String,
) -> Result<Placed, String> {
    let mut ranges: OfEach<Registration> = OfEach::new();
    let registered = table.register_together(
        &class.class().this_class().to_str_lossless(),
        class.fingerprint(),
        &class.loader().recorded_name(),
        wanted,
        class.file(),
        &mut ranges,
    );
    registered.map_err(|error| error.to_string())?;
    let array = ranges.first().map_or(0, |range| range.array);
    if ranges.iter().any(|range| range.array != array) {
        return Err("the arrays have no space for the probes of its plugins".to_owned());
    }
    let bases = ranges.iter().map(|range| u32::from(range.base)).collect();
    Ok((ProbeArray::shared(array, table.hit_code(), owner), bases))
}

/// Places the plugins' probes one after the other in the class's own array.
fn on_its_own(
    class: &TransformedClass,
    wanted: &[(&str, u32)],
    probes: &mut Vec<ClassProbes>,
) -> Result<Placed, String> {
    probes.extend(wanted.iter().map(|(plugin, count)| ClassProbes {
        plugin: (*plugin).to_owned(),
        count: *count,
    }));
    let key = class_array::key(class.fingerprint(), probes, class.class().this_class());
    let key = key.ok_or("its plugins request more probes than the 65536 of an array")?;
    let bases = wanted.iter().scan(0, |next, (_, count)| {
        let base = *next;
        *next += count;
        Some(base)
    });
    Ok((ProbeArray::Own(key), bases.collect()))
}
