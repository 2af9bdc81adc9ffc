//! The code that records hits in this JVM: calls that its compilers remove, or stores.
//!
//! With HotSpot's C2 a call has no cost once its probe was hit. In methods that are interpreted, or compiled by C1
//! alone, a store is cheaper. The JVM's flags show the compilers that it has.

use crate::agent::Agent;
use crate::agent::instrumented::Edits;
use crate::ffi::jvm::Jvm;
use crate::ffi::vm_flags::VmFlags;
use crate::messages::{self, Code};
use crate::probe_arrays;
use crate::retransform::{self, Report};
use probes::HitCode;

/// The highest level of tiered compilation, that of C2.
const C2: usize = 4;

/// A reason for recording hits by stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreCause {
    /// The agent's option requires stores.
    Option,
    /// Coverage per test clears the arrays after each test.
    Tests,
    /// The agent cannot retransform the classes of the arrays, which a reset needs.
    BeforeAgents,
    /// The JVM does not export its flags; it is not HotSpot.
    Unknown,
    /// The JVM has no compiler: `-Xint`.
    Interpreted,
    /// C2 is missing, or switched off: `-XX:TieredStopAtLevel=1`.
    NoC2,
    /// The compilers do not fold array elements to constants: `-XX:-FoldStableValues`.
    NoConstants,
}

impl StoreCause {
    /// The reason as a clause.
    pub fn text(self) -> &'static str {
        match self {
            Self::Option => "the option hits=stores is set",
            Self::Tests => "coverage per test clears them often",
            Self::BeforeAgents => "the option before-agents=on excludes calls",
            Self::Unknown => "the JVM does not export its compilers",
            Self::Interpreted => "the JVM does not compile",
            Self::NoC2 => "the JVM does not use C2",
            Self::NoConstants => "the flag FoldStableValues is off",
        }
    }
}

/// Chooses the code for classes that are instrumented from now on.
pub(crate) fn choose(agent: &Agent) {
    agent
        .results
        .table
        .set_hit_code(match cause_of_stores(agent) {
            None => HitCode::Call,
            Some(_) => HitCode::Store,
        });
}

/// Returns the reason for stores, or `None` if calls record hits.
pub(crate) fn cause_of_stores(agent: &Agent) -> Option<StoreCause> {
    match agent.settings.hits {
        Some(HitCode::Call) => return None,
        Some(HitCode::Store) => return Some(StoreCause::Option),
        None => {}
    }
    if agent.results.tests.are_used() {
        return Some(StoreCause::Tests);
    }
    if agent.settings.before_agents {
        return Some(StoreCause::BeforeAgents);
    }
    match VmFlags::of_this_jvm() {
        None => Some(StoreCause::Unknown),
        Some(flags) => cause_in_flags(&flags),
    }
}

fn cause_in_flags(flags: &VmFlags) -> Option<StoreCause> {
    let is_on = |name| flags.find(name).map(|flag| flag.get());
    if is_on(c"UseCompiler") == Some(false) {
        return Some(StoreCause::Interpreted);
    }
    if is_on(c"FoldStableValues") != Some(true) {
        return Some(StoreCause::NoConstants);
    }
    let has_jvmci = is_on(c"UseJVMCICompiler") == Some(true);
    // A flag of C2: a JVM that is built without C2 does not have it.
    let has_c2 = has_jvmci || flags.find(c"EliminateAllocations").is_some();
    let stops_at = flags.find(c"TieredStopAtLevel").map(|flag| flag.number());
    let stops_early = is_on(c"TieredCompilation") == Some(true) && stops_at < Some(C2);
    let mode = flags.find(c"CompilationMode").and_then(|flag| flag.text());
    let is_quick_only = mode == Some(c"quick-only");
    (!has_c2 || stops_early || is_quick_only).then_some(StoreCause::NoC2)
}

/// Makes all classes record hits by stores, including those that call now.
///
/// Methods that are running finish their old code, which the JVM interprets, so they also record each hit after a
/// clearing.
pub(crate) fn store_only(agent: &Agent, jvm: Jvm<'_>) {
    if agent.settings.hits == Some(HitCode::Call) {
        return; // cleared hits are recorded again all the same, only later
    }
    agent.results.table.set_hit_code(HitCode::Store);
    let calls = |edits: &Edits| edits.hits_call;
    if agent.classes.instrumented.count(calls) == 0 {
        return;
    }
    let Report { failed, .. } = retransform::settle(agent, jvm, calls, |_| false);
    for (class, error) in failed {
        messages::warning(
            Code::Retransform,
            format_args!("{class} may lack hits of later tests: {error}"),
        );
    }
}

/// Makes sure that each hit is recorded from now on. Call this whenever elements of the arrays were set to zero.
///
/// # Errors
///
/// The JVM keeps code that was compiled before; the text has the cause.
pub(crate) fn cleared(agent: &Agent, jvm: Jvm<'_>) -> Result<(), String> {
    match agent.classes.instrumented.count(|edits| edits.hits_call) {
        0 => Ok(()),
        _ => probe_arrays::discard_compiled(jvm),
    }
}
