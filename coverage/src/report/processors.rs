//! Distributes work over all processors.

use std::io;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Calls `part` for each number below `count`, in any order. After an error no further part is started.
pub(super) fn share(
    count: usize,
    part: &(dyn Fn(usize) -> io::Result<()> + Sync),
) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= count {
                return Ok(());
            }
            part(number).inspect_err(|_| next.store(count, Relaxed))?;
        }
    };
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        // If no thread can be started, this one does all the work.
        let others = 1..processors.min(count);
        let others: Vec<_> = others
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let own = work();
        let joined = others.into_iter().map(|other| {
            other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.fold(own, io::Result::and)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn each_part_runs_once() {
        for count in [0, 1, 2, 1_000] {
            let done = Mutex::new(Vec::new());
            let part = |number| {
                done.lock().unwrap().push(number);
                Ok(())
            };
            share(count, &part).unwrap();
            let mut done = done.into_inner().unwrap();
            done.sort_unstable();
            assert!(done.into_iter().eq(0..count));
        }
    }

    #[test]
    fn error_of_one_part_is_returned() {
        let part = |number| match number {
            3 => Err(io::Error::other("full")),
            _ => Ok(()),
        };
        let error = share(1_000, &part).unwrap_err();
        assert_eq!(error.to_string(), "full");
        assert!(share(3, &part).is_ok());
    }
}
