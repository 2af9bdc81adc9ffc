//! The conditions and shown values of spans.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use conditions::{Comparison, Condition, Literal, Operand, Program, Test};

use super::capture::JvmValue;
use super::limits::{MAX_PROGRAMS, MAX_SPANS};
use super::rates::{InSecond, raise};

/// Bit position of the number of a method's parameters, beside the number of its program.
const PARAMETERS: u32 = 16;
/// Number of programs on one page of the directory.
const PAGE: usize = 256;

type Page = Box<[OnceLock<Watched>]>;

/// The programs by number, and the program of each span.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    pages: OnceLock<Box<[OnceLock<Page>]>>,
    /// By span: the program number plus one in the low half, the number of parameters in the high half.
    spans: OnceLock<Box<[AtomicU32]>>,
    /// Held while a program is added.
    known: Mutex<ProgramIndex>,
    /// Set when a value is found present or absent for the first time.
    noted: AtomicBool,
}

/// Numbers and counts of programs, by plugin and text.
#[derive(Debug, Default)]
struct ProgramIndex {
    /// The number of each program.
    numbers: HashMap<String, u32>,
    /// The counts of each watch.
    limits: HashMap<String, Arc<Limits>>,
}

/// A program of one plugin, with the counts of its limits.
#[derive(Debug)]
pub(crate) struct Watched {
    pub program: Arc<Program>,
    plugin: String,
    limits: Arc<Limits>,
    values: Box<[FieldValue]>,
}

/// A value of a program that is reached through fields.
#[derive(Debug, Default)]
struct FieldValue {
    /// [`UNSEEN`], [`ABSENT`] or [`FOUND`].
    state: AtomicU8,
    /// While the value was never present: classes without a field, the field, and the fields that they have.
    absent: Mutex<Vec<(u32, u32, u32)>>,
}

/// Maximum number of noted classes for a value.
const MAX_ABSENT: usize = 64;

const UNSEEN: u8 = 0;
const ABSENT: u8 = 1;
const FOUND: u8 = 2;

/// The known state of a program's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueState {
    /// It was present at least once.
    Found,
    /// It was never present: numbers of a class, of its missing field, and of its existing fields.
    Absent(u32, u32, u32),
}

/// The counts of a watch's limits. Its programs share them: a watch of written fields has one program for each class
/// that instructions name.
#[derive(Debug, Default)]
struct Limits {
    /// Number of stored calls, if it is limited.
    kept: AtomicU64,
    /// Number of calls stored in one second, if it is limited.
    in_second: InSecond,
}

impl Watches {
    /// Sets or removes the program of a plugin's span; `false` if there are too many.
    pub fn set(
        &self,
        span: u32,
        plugin: &str,
        program: Option<&Arc<Program>>,
        parameters: u8,
    ) -> bool {
        let number = match program {
            None if self.spans.get().is_none() => return true,
            None => 0,
            Some(program) => match self.number(plugin, program) {
                Some(number) => number + 1,
                None => return false,
            },
        };
        let spans = self
            .spans
            .get_or_init(|| (0..MAX_SPANS).map(|_| AtomicU32::new(0)).collect());
        if let Some(place) = spans.get(span as usize) {
            place.store(
                number | u32::from(parameters) << PARAMETERS,
                Ordering::Release,
            );
        }
        true
    }

    /// Returns the program of a span, and the number of its method's parameters.
    pub fn of(&self, span: u32) -> Option<(&Watched, u8)> {
        let both = self
            .spans
            .get()?
            .get(span as usize)?
            .load(Ordering::Acquire);
        let number = (both & 0xFFFF).checked_sub(1)?;
        Some((self.find(number)?, (both >> PARAMETERS) as u8))
    }

    /// Checks whether a call of a span that is open for `nanos` is stored when it ends: its program has no limit, and
    /// no condition but a duration that has passed.
    pub fn keeps_open(&self, span: u32, nanos: u64) -> bool {
        let keeps = |watched: &Watched| {
            let watch = watched.program.watch();
            let holds = match &watch.when {
                None => true,
                Some(Condition::Test(Test::Compare(
                    Operand::Value(conditions::Value::Duration),
                    Comparison::GreaterOrEqual,
                    Operand::Literal(Literal::Duration(least)),
                ))) => nanos >= *least,
                Some(_) => false,
            };
            holds && watch.calls.is_none() && watch.per_second.is_none()
        };
        self.of(span).is_some_and(|(watched, _)| keeps(watched))
    }

    /// Resets the limits of this plugin, or of all plugins.
    pub fn begin_again(&self, plugin: Option<&str>) {
        let count = self.known().numbers.len();
        let programs = (0..count).filter_map(|number| self.find(number as u32));
        for watched in programs.filter(|it| plugin.is_none_or(|plugin| plugin == it.plugin)) {
            watched.limits.kept.store(0, Ordering::Relaxed);
            watched.limits.in_second.forget();
            for value in &watched.values {
                value.state.store(UNSEEN, Ordering::Relaxed);
                value.absent().clear();
            }
        }
    }

    /// Returns the number of a program; equal programs of a plugin share one.
    fn number(&self, plugin: &str, program: &Arc<Program>) -> Option<u32> {
        let mut known = self.known();
        let number = known.numbers.len() as u32; // at most MAX_PROGRAMS
        let is_same = |known: &Watched| known.plugin == plugin && known.program == *program;
        // Most spans have the last added program.
        let last = number
            .checked_sub(1)
            .filter(|last| self.find(*last).is_some_and(is_same));
        if last.is_some() {
            return last;
        }
        let text = format!("{plugin} {program:?}");
        if let Some(number) = known.numbers.get(&text) {
            return Some(*number);
        }
        if number as usize >= MAX_PROGRAMS {
            return None;
        }
        let pages = self.pages.get_or_init(|| {
            let pages = MAX_PROGRAMS.div_ceil(PAGE);
            (0..pages).map(|_| OnceLock::new()).collect()
        });
        let of_watch = format!("{plugin} {:?}", program.watch());
        let limits = Arc::clone(known.limits.entry(of_watch).or_default());
        let page = pages.get(number as usize / PAGE)?;
        let page = page.get_or_init(|| (0..PAGE).map(|_| OnceLock::new()).collect());
        page.get(number as usize % PAGE)?.get_or_init(|| Watched {
            program: Arc::clone(program),
            plugin: plugin.to_owned(),
            limits,
            values: program
                .slots()
                .iter()
                .map(|_| FieldValue::default())
                .collect(),
        });
        known.numbers.insert(text, number);
        Some(number)
    }

    /// Notes once that a value is present, or the reason why it is absent.
    pub fn note(&self, watched: &Watched, number: u8, seen: JvmValue<'_>) {
        let Some(value) = watched.values.get(usize::from(number)) else {
            return;
        };
        let state = value.state.load(Ordering::Relaxed);
        match seen {
            JvmValue::Unreadable => {}
            JvmValue::NoField(class, field, fields) if state != FOUND => {
                let mut absent = value.absent();
                let one = (class, field, fields);
                if absent.len() < MAX_ABSENT && !absent.contains(&one) {
                    absent.push(one);
                    let (was, now) = (UNSEEN, ABSENT);
                    let (set, kept) = (Ordering::Release, Ordering::Relaxed);
                    let _ = value.state.compare_exchange(was, now, set, kept); // it may be found already
                    self.noted.store(true, Ordering::Release);
                }
            }
            JvmValue::NoField(..) => {}
            _ if state == FOUND => {}
            _ => {
                value.state.store(FOUND, Ordering::Relaxed);
                self.noted.store(true, Ordering::Release);
            }
        }
    }

    /// Checks once whether the state of a value has changed.
    pub fn take_noted(&self) -> bool {
        self.noted.load(Ordering::Relaxed) && self.noted.swap(false, Ordering::Acquire)
    }

    fn known(&self) -> MutexGuard<'_, ProgramIndex> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, number: u32) -> Option<&Watched> {
        let page = self.pages.get()?.get(number as usize / PAGE)?.get()?;
        page.get(number as usize % PAGE)?.get()
    }
}

impl FieldValue {
    fn absent(&self) -> MutexGuard<'_, Vec<(u32, u32, u32)>> {
        self.absent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    /// Iterates over the values with a known state, with their numbers.
    pub fn known_values(&self) -> impl Iterator<Item = (u8, ValueState)> {
        let values = (0..).zip(&self.values);
        values.flat_map(|(number, value)| {
            let known = match value.state.load(Ordering::Acquire) {
                FOUND => vec![ValueState::Found],
                ABSENT => {
                    let absent = value.absent();
                    let absent = absent.iter();
                    absent
                        .map(|(class, field, fields)| ValueState::Absent(*class, *field, *fields))
                        .collect()
                }
                _ => Vec::new(),
            };
            known.into_iter().map(move |known| (number, known))
        })
    }

    /// Checks whether one more call may be stored that ended within this second, and counts it.
    pub fn admits(&self, second: u64) -> bool {
        let watch = self.program.watch();
        let in_time = |most| self.limits.in_second.admits(second, most);
        watch.per_second.is_none_or(in_time)
            && watch.calls.is_none_or(|most| {
                raise(&self.limits.kept, |kept| (kept < most).then_some(kept + 1))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conditions::Watch;

    fn program(calls: Option<u64>, per_second: Option<u32>) -> Arc<Program> {
        Arc::new(Program::of(&Watch {
            calls,
            per_second,
            ..Watch::default()
        }))
    }

    #[test]
    fn spans_share_equal_programs() {
        let watches = Watches::default();
        assert!(watches.set(9, "p", None, 0) && watches.of(9).is_none());
        assert!(watches.set(7, "p", Some(&program(Some(1), None)), 3));
        assert!(watches.set(8, "p", Some(&program(Some(1), None)), 255));
        assert!(watches.set(9, "p", Some(&program(Some(2), None)), 0));
        let of = |span| {
            watches
                .of(span)
                .map(|(watched, count)| (std::ptr::from_ref(watched), count))
        };
        assert_eq!(of(7).map(|it| it.0), of(8).map(|it| it.0));
        assert_ne!(of(7).map(|it| it.0), of(9).map(|it| it.0));
        assert_eq!(
            (of(7).map(|it| it.1), of(8).map(|it| it.1)),
            (Some(3), Some(255))
        );
        assert!(watches.set(7, "p", None, 0) && watches.of(7).is_none() && watches.of(6).is_none());
    }

    #[test]
    fn equal_programs_of_two_plugins_have_separate_limits() {
        let watches = Watches::default();
        for (span, plugin) in [(1, "p"), (2, "q")] {
            assert!(watches.set(span, plugin, Some(&program(Some(1), None)), 0));
        }
        let admits = |span| watches.of(span).expect("set").0.admits(0);
        assert_eq!([1, 1, 2, 2].map(admits), [true, false, true, false]);
    }

    /// A watch of written fields has a program for each class that instructions name.
    #[test]
    fn programs_of_one_watch_share_its_limits() {
        let watch = Watch {
            calls: Some(2),
            ..Watch::default()
        };
        let of_class = |owner: &str| {
            let field = conditions::NamedField::new(owner, "status", "I");
            let site = conditions::WriteSite {
                field,
                is_static: false,
                classes: vec!["Order".to_owned()],
            };
            Arc::new(Program::of_write(&watch, &site))
        };
        let watches = Watches::default();
        assert!(watches.set(1, "p", Some(&of_class("Order")), 0));
        assert!(watches.set(2, "p", Some(&of_class("Special")), 0));
        let admits = |span| watches.of(span).expect("set").0.admits(0);
        assert_eq!([1, 2, 1, 2].map(admits), [true, true, false, false]);
    }

    #[test]
    fn number_of_programs_is_limited() {
        let watches = Watches::default();
        let set = |calls| watches.set(1, "p", Some(&program(Some(calls), None)), 0);
        assert!((0..MAX_PROGRAMS as u64).all(set));
        assert!(!set(MAX_PROGRAMS as u64) && set(3));
    }

    #[test]
    fn calls_are_limited_in_total_and_per_second() {
        let watches = Watches::default();
        assert!(watches.set(1, "p", Some(&program(Some(5), Some(2))), 0));
        let (watched, _) = watches.of(1).expect("set");
        let admitted = |seconds: [u64; 6]| seconds.map(|second| watched.admits(second));
        assert_eq!(
            admitted([0, 0, 0, 1, 1, 1]),
            [true, true, false, true, true, false]
        );
        assert_eq!(
            admitted([2, 2, 3, 3, 4, 4]),
            [true, false, false, false, false, false]
        );
        watches.begin_again(Some("q"));
        assert!(!watched.admits(4));
        watches.begin_again(Some("p"));
        assert!(watched.admits(4));
        watches.begin_again(None);
        assert!(watched.admits(4));
    }
}
