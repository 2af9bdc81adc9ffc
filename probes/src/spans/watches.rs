//! What is asked of the calls of spans that have a condition, or of which values are shown.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use conditions::Program;

use super::limits::{MAX_PROGRAMS, MAX_SPANS};
use super::rates::{InSecond, raise};

/// Where the number of a method's parameters lies beside that of its program.
const PARAMETERS: u32 = 16;

/// The programs by number, and the program of each span.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    programs: OnceLock<Box<[OnceLock<Watched>]>>,
    /// By span: number of the program, plus one, in the low half; number of parameters in the high one.
    spans: OnceLock<Box<[AtomicU32]>>,
    /// Held by who adds a program.
    adding: Mutex<()>,
}

/// A program, and what came of its limits.
#[derive(Debug)]
pub(crate) struct Watched {
    pub program: Arc<Program>,
    /// Calls that were kept, if their number is limited.
    kept: AtomicU64,
    /// Calls that were kept in one second, if their number is limited.
    in_second: InSecond,
}

impl Watches {
    /// Gives a span its program, or none; false if there are too many.
    pub fn set(&self, span: u32, program: Option<&Arc<Program>>, parameters: u8) -> bool {
        let number = match program {
            None if self.spans.get().is_none() => return true,
            None => 0,
            Some(program) => match self.number(program) {
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

    /// The program of a span, and how many parameters its method has.
    pub fn of(&self, span: u32) -> Option<(&Watched, u8)> {
        let both = self
            .spans
            .get()?
            .get(span as usize)?
            .load(Ordering::Acquire);
        let number = (both & 0xFFFF).checked_sub(1)?;
        let watched = self.programs.get()?.get(number as usize)?.get()?;
        Some((watched, (both >> PARAMETERS) as u8))
    }

    /// A trace begins: the limits are those of its own calls.
    pub fn begin_again(&self) {
        let programs = self.programs.get().into_iter().flatten();
        for watched in programs.map_while(OnceLock::get) {
            watched.kept.store(0, Ordering::Relaxed);
            watched.in_second.forget();
        }
    }

    /// The number of a program, the same for one that asks the same.
    fn number(&self, program: &Arc<Program>) -> Option<u32> {
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let programs = self
            .programs
            .get_or_init(|| (0..MAX_PROGRAMS).map(|_| OnceLock::new()).collect());
        let place = programs.iter().position(|place| {
            place
                .get()
                .is_none_or(|known| known.program.watch() == program.watch())
        })?;
        let watched = Watched {
            program: Arc::clone(program),
            kept: AtomicU64::new(0),
            in_second: InSecond::default(),
        };
        programs.get(place)?.get_or_init(|| watched);
        u32::try_from(place).ok()
    }
}

impl Watched {
    /// Whether one more call is kept, which ended within this second.
    pub fn admits(&self, second: u64) -> bool {
        let watch = self.program.watch();
        let in_time = |most| self.in_second.admits(second, most);
        watch.per_second.is_none_or(in_time)
            && watch
                .calls
                .is_none_or(|most| raise(&self.kept, |kept| (kept < most).then_some(kept + 1)))
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
        assert!(watches.set(9, None, 0) && watches.of(9).is_none());
        assert!(watches.set(7, Some(&program(Some(1), None)), 3));
        assert!(watches.set(8, Some(&program(Some(1), None)), 255));
        assert!(watches.set(9, Some(&program(Some(2), None)), 0));
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
        assert!(watches.set(7, None, 0) && watches.of(7).is_none() && watches.of(6).is_none());
    }

    #[test]
    fn there_are_at_most_so_many_programs() {
        let watches = Watches::default();
        let set = |calls| watches.set(1, Some(&program(Some(calls), None)), 0);
        assert!((0..MAX_PROGRAMS as u64).all(set));
        assert!(!set(MAX_PROGRAMS as u64) && set(3));
    }

    #[test]
    fn calls_are_limited_in_all_and_in_each_second() {
        let watches = Watches::default();
        assert!(watches.set(1, Some(&program(Some(5), Some(2))), 0));
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
        watches.begin_again();
        assert!(watched.admits(4));
    }
}
