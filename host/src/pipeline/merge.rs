//! Merges the plans of all plugins, assigns array indices to their probes, and generates the code
//! of spans and counters.
//!
//! Each plugin has two layers, in the order of the plugins. The outer one records its spans, counts and
//! events, and the inner one has its edits. See [`EditPlan::merge`].

use std::borrow::Cow;

use errors::codes;
use jvms::modified_utf8::Utf8;
use plan_rules::PlanRequest;
use probes::{HitCode, ProbeTable, Registration};
use rewriter::{ClassFile, EditPlan, MethodIndex, PluginPlan, ProbeStorage};
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
    let bases: OfEach<u32> = requests
        .iter()
        .map(|asked| match asked.request.hits {
            0 => 0,
            _ => bases.next().unwrap_or_default(),
        })
        .collect();
    let mut ordered: OfEach<(&PluginRequest, u32)> = requests.iter().zip(bases).collect();
    ordered.sort_by_key(|(asked, _)| asked.plugin.order);
    let mut layers = Layers {
        class,
        there,
        by,
        skipped: LeftAlone::new(),
        partly: LeftAlone::new(),
    };
    let mut plans: OfEach<LayerPlan<'_>> = OfEach::new();
    let mut following = EditPlan::new();
    for (asked, hits) in ordered {
        if let Some(table) = table {
            let recording = layers.recording(asked, table, &mut following)?;
            plans.push(LayerPlan::new(asked, Cow::Owned(recording), 0));
        }
        let plan = layers.transferred(asked, &asked.request.plan);
        plans.push(LayerPlan::new(asked, plan, hits));
    }
    if let (false, Some(first)) = (following.is_empty(), requests.first()) {
        let plan = layers.transferred(first, &following).into_owned();
        plans.push(LayerPlan::new(first, Cow::Owned(plan), 0));
    }
    let parts: OfEach<_> = plans.iter().map(LayerPlan::part).collect();
    let target = there.unwrap_or(class.class());
    let memory = std::mem::take(&mut memory.plan);
    let merged = EditPlan::merge_with(target, &parts, memory)
        .map_err(|conflict| PluginFailure::new(codes::H0304, conflict.to_string()))?;
    let mut left_alone = (layers.skipped, layers.partly);
    for left in merged.left_out {
        let cause = format!("edits of plugin `{}` are left out: {}", left.by, left.cause);
        let method = match there {
            None => Some(left.method),
            Some(there) => index_of(class.class(), there, left.method),
        };
        let list = match left.is_unmeasured {
            true => &mut left_alone.0,
            false => &mut left_alone.1,
        };
        list.extend(method.map(|method| (method, cause)));
    }
    let (skipped, partly) = left_alone;
    Ok(MergedPlan {
        array,
        plan: merged.plan,
        skipped,
        partly,
    })
}

/// The plan of a layer.
struct LayerPlan<'p> {
    by: &'p str,
    plan: Cow<'p, EditPlan>,
    hits: u32,
}

impl<'p> LayerPlan<'p> {
    fn new(asked: &'p PluginRequest, plan: Cow<'p, EditPlan>, hits: u32) -> Self {
        let by = asked.plugin.name.as_str();
        LayerPlan { by, plan, hits }
    }

    fn part(&self) -> PluginPlan<'_> {
        PluginPlan {
            by: self.by,
            plan: &self.plan,
            hits: self.hits,
        }
    }
}

/// The making of the plans of all layers.
struct Layers<'m, 'a> {
    class: &'m TransformedClass,
    /// The class file that the plans are for, if it is another one, and the plugin that handed it over.
    there: Option<&'m ClassFile<'a>>,
    by: Option<&'m str>,
    skipped: LeftAlone,
    partly: LeftAlone,
}

impl Layers<'_, '_> {
    /// Returns the plan of the code that records a plugin's spans, counts and events. `following` gets the code for
    /// continuations, once for all plugins.
    fn recording(
        &mut self,
        asked: &PluginRequest,
        table: &ProbeTable,
        following: &mut EditPlan,
    ) -> Result<EditPlan, PluginFailure> {
        let PluginRequest { plugin, request } = asked;
        let mut plan = EditPlan::new();
        let to = (&mut plan, following);
        let added = span::add(to, self.class, plugin, request, table);
        let added = added.and_then(|mut left_alone| {
            left_alone.extend(event::add(&mut plan, self.class, plugin, request, table)?);
            Ok(left_alone)
        });
        self.partly.extend(added.map_err(|refused| {
            PluginFailure::new(codes::H0307, refused.cause)
                .by(&plugin.name)
                .in_method(self.class.method_name(refused.method))
        })?);
        if self.there.is_some() {
            plan = self.transferred(asked, &plan).into_owned();
        }
        let there = self.there.unwrap_or(self.class.class());
        let natives = natives::add(&mut plan, self.class, there, asked, table);
        self.partly.extend(natives);
        Ok(plan)
    }

    /// Returns the plan for the class file that is edited. If a plugin replaced the code of a method, edits at its entry
    /// and exits remain.
    fn transferred<'p>(&mut self, asked: &PluginRequest, plan: &'p EditPlan) -> Cow<'p, EditPlan> {
        let Some(there) = self.there else {
            return Cow::Borrowed(plan);
        };
        let class = self.class.class();
        let (mut moved, refused) = class_versions::transfer(plan, class, there);
        for (method, reason) in refused {
            let Some(by) = self.by else {
                add(&mut self.skipped, method, reason.to_string());
                continue;
            };
            // Probes at the entry and exits alone would not show what ran in between.
            let is_kept = *by != asked.plugin.name && !plan.has_probes(method);
            let index = index_of(there, class, method).filter(|_| is_kept);
            let Some(index) = index else {
                let cause = format!("plugin `{by}` replaced its code: {reason}");
                add(&mut self.skipped, method, cause);
                continue;
            };
            if !plan.around_body((class, method), (there, index), &mut moved) {
                let cause = format!(
                    "plugin `{by}` replaced its code, so only edits of plugin `{}` at its entry and exits remain",
                    asked.plugin.name
                );
                add(&mut self.partly, method, cause);
            }
        }
        Cow::Owned(moved)
    }
}

/// Adds a method with a remark, unless it is there already.
fn add(list: &mut LeftAlone, method: MethodIndex, cause: String) {
    if !list
        .iter()
        .any(|found| found.0 == method && found.1 == cause)
    {
        list.push((method, cause));
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

/// Returns the method of `from` with the name and descriptor that `method` has in `to`.
pub(super) fn index_of(
    from: &ClassFile<'_>,
    to: &ClassFile<'_>,
    method: MethodIndex,
) -> Option<MethodIndex> {
    let wanted = to.method(method)?;
    let same = |found: &rewriter::Method<'_, '_>| {
        found.name() == wanted.name() && found.descriptor() == wanted.descriptor()
    };
    from.methods().find(same).map(|found| found.index())
}
