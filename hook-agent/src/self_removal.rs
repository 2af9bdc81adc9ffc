//! Takes probes out of hot code once it is on record that they were hit: such a probe costs time and can tell nothing more.
//!
//! From time to time the upkeep thread clears such probes in each of its turns, and looks in the next which of them are
//! hit again. Classes whose probes are, again and again, are retransformed, and their hit probes are left out of them
//! ([`probes::ProbeTable::spend`]). What was hit is on record before, so nothing is lost, neither with what is cleared nor
//! by methods that go on running their old code.
//!
//! A turn is long enough for threads that wait for a processor most of the time, as on a machine that is busy with other
//! programs.

use crate::agent::Agent;
use crate::agent::instrumented::Edits;
use crate::ffi::jvm::Jvm;
use crate::ffi::process;
use crate::messages::{self, Code};
use crate::probe_arrays;
use crate::retransform::{self, Report};
use probes::ProbeRange;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// How long after the start of the agent hot classes are looked for first: to compile them anew costs as much as their
/// probes cost in about this time, which a program that ends before has not got back.
const BEGIN: Duration = Duration::from_secs(10);
/// How long after hot classes were found others are looked for.
const FIRST_PAUSE: Duration = Duration::from_secs(3);
/// The longest pause: it doubles as long as there is nothing to do.
const LAST_PAUSE: Duration = Duration::from_secs(30);
/// The longest pause between two retransformations of one class: it becomes four times as long each time.
const LONGEST_CLASS_PAUSE: Duration = Duration::from_secs(3_600);
/// How many turns of the upkeep thread the probes are watched.
const WATCHES: u32 = u32::BITS;
/// In so many of these some probe of a hot class is hit.
const HOT: u32 = WATCHES / 2;

/// In which turns each probe, by array and index, was hit again that is known to have been hit: a bit for each. The first
/// may stand for a hit from long before.
type Heat = HashMap<(u16, u16), u32>;

/// When the upkeep thread looks for hot classes, and what it did before.
#[derive(Debug)]
pub(crate) struct SelfRemoval {
    next: Attempt,
    /// How often the probes were watched since then, and what was seen.
    watched: u32,
    heat: Heat,
    /// When each class that was retransformed may be again, by internal name: its other code may become hot, too.
    classes: HashMap<String, Attempt>,
}

/// When something is tried again, and how much later than the last time that is.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    due: Instant,
    pause: Duration,
}

impl Attempt {
    fn after(pause: Duration) -> Self {
        let due = Instant::now() + pause;
        Self { due, pause }
    }

    fn is_due(self) -> bool {
        self.due <= Instant::now()
    }
}

impl SelfRemoval {
    /// Nothing was done yet.
    pub fn new() -> Self {
        Self {
            next: Attempt {
                pause: FIRST_PAUSE,
                ..Attempt::after(BEGIN)
            },
            watched: 0,
            heat: Heat::new(),
            classes: HashMap::new(),
        }
    }

    /// Watches the probes, if it is time; when they were watched often enough, takes those that are on record out of hot
    /// classes.
    pub fn turn(&mut self, agent: &Agent, jvm: Jvm<'_>) {
        if !agent.settings.self_remove
            || agent.settings.before_agents
            || agent.tests.are_used()
            || !self.next.is_due()
        {
            return;
        }
        if let Err(cause) = self.watch(agent, jvm) {
            messages::debug(cause);
        }
        self.watched += 1;
        if self.watched < WATCHES {
            return;
        }
        let found = self.remove(agent, jvm);
        self.watched = 0;
        self.heat.clear();
        self.next = Attempt::after(match found {
            0 => (self.next.pause * 2).min(LAST_PAUSE),
            _ => FIRST_PAUSE,
        });
    }

    /// How many classes were retransformed; none if somebody else is changing classes, a debugger is there, or tests are told
    /// from one another.
    fn remove(&mut self, agent: &Agent, jvm: Jvm<'_>) -> usize {
        let Some(_alone) = agent.work.try_alone() else {
            return 0;
        };
        if agent.tests.are_used() {
            return 0;
        }
        let hot = self.spend(agent);
        if hot.is_empty() {
            return 0;
        }
        let report = retransform::retransform_edited(agent, jvm, &hot);
        let classes = report.retransformed;
        messages::info(format_args!(
            "{classes} hot classes need their hit probes no more"
        ));
        classes
    }

    /// Notes which probes are hit again of those that are known to have been hit.
    fn watch(&mut self, agent: &Agent, jvm: Jvm<'_>) -> Result<(), String> {
        // Nobody reads or clears the arrays meanwhile.
        let _exclusive = agent.snapshot.exclusive();
        let known = |array| agent.snapshot.known(array);
        probe_arrays::sweep(jvm, known, |array, index| {
            *self.heat.entry((array, index)).or_default() |= 1 << self.watched;
        })
    }

    /// The internal names of hot classes, whose hit probes are spent from now on.
    fn spend(&mut self, agent: &Agent) -> HashSet<String> {
        let mut hot = HashSet::new();
        if self.heat.is_empty() || process::is_debugged() {
            return hot;
        }
        for (class, range) in agent.table.class_ranges() {
            if self.is_hot(&range) && self.may_change(&class) && spend_hit(agent, &range) > 0 {
                hot.insert(class);
            }
        }
        for class in &hot {
            let last = self.classes.get(class);
            let pause = last.map_or(FIRST_PAUSE, |last| last.pause * 4);
            let next = Attempt::after(pause.min(LONGEST_CLASS_PAUSE));
            self.classes.insert(class.clone(), next);
        }
        hot
    }

    /// Whether probes of a class were hit often enough, be it another one each time: large programs go through much code
    /// in turn.
    fn is_hot(&self, range: &ProbeRange) -> bool {
        let indices = indices(range).filter_map(|index| u16::try_from(index).ok());
        let seen = indices.filter_map(|index| self.heat.get(&(range.array, index)));
        seen.fold(0, |all, times| all | times).count_ones() >= HOT
    }

    fn may_change(&self, class: &str) -> bool {
        let attempt = self.classes.get(class);
        attempt.is_none_or(|attempt| attempt.is_due())
    }
}

/// Says of the hit probes of a class that they are spent; of how many that was not known.
fn spend_hit(agent: &Agent, range: &ProbeRange) -> usize {
    let known = agent.snapshot.known(range.array);
    let hit = indices(range).filter(|index| known.get(*index).is_some_and(|byte| *byte != 0));
    agent.table.spend(range.array, hit)
}

fn indices(range: &ProbeRange) -> std::ops::Range<usize> {
    let base = usize::from(range.base);
    base..base + range.count as usize
}

/// Gives classes the probes of these ranges again that were taken out of them. A method that is running keeps its code
/// until it returns.
pub(crate) fn put_back(agent: &Agent, jvm: Jvm<'_>, ranges: &[ProbeRange]) {
    agent.table.forget_spent(ranges);
    let lack_probes = |edits: &Edits| edits.without_spent;
    if agent.instrumented.count(lack_probes) == 0 {
        return;
    }
    let Report { failed, .. } = retransform::settle(agent, jvm, lack_probes, |_| false);
    for (class, error) in failed {
        messages::warning(
            Code::Retransform,
            format_args!("{class} lacks the probes that were hit before: {error}"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a class with the probes 10 to 19 of array 1 is hot when these were hit, by array, index and the turns.
    fn is_hot(hits: &[(u16, u16, std::ops::Range<u32>)]) -> bool {
        let mut removal = SelfRemoval::new();
        for (array, index, turns) in hits {
            for turn in turns.clone() {
                *removal.heat.entry((*array, *index)).or_default() |= 1 << turn;
            }
        }
        let (array, base, count) = (1, 10, 10);
        removal.is_hot(&ProbeRange { array, base, count })
    }

    #[test]
    fn class_is_hot_whose_probes_are_hit_in_turn() {
        assert!(is_hot(&[(1, 10, 16..32)]));
        assert!(is_hot(&[(1, 10, 0..6), (1, 15, 6..12), (1, 19, 20..24)]));
    }

    #[test]
    fn class_is_not_hot_whose_probes_are_hit_in_few_turns() {
        assert!(!is_hot(&[(1, 10, 0..15)]));
        assert!(!is_hot(&[(1, 10, 4..12), (1, 11, 4..12), (1, 12, 5..13)]));
        assert!(!is_hot(&[(1, 9, 0..32), (1, 20, 0..32), (2, 10, 0..32)]));
    }
}
