//! Separate stacks, because a Java thread may have too little stack left for the work.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once, PoisonError};

use corosensei::stack::DefaultStack;
use rewriter::{CheckScratch, Scratch};

use crate::reusable_buffers::ReusableBuffers;

/// Size of a stack in bytes; a guard page is below it.
const STACK: usize = 1 << 20;
/// Maximum number of stacks to keep for reuse.
const KEPT: usize = 8;

/// The resources of one transform: a stack and scratch buffers.
struct WorkerStack {
    stack: DefaultStack,
    /// Boxed, so that taking a stack moves few bytes.
    buffers: Box<ScratchBuffers>,
}

/// The buffers for splicing a class.
pub struct ScratchBuffers {
    /// Buffers of the rewriter.
    pub scratch: Scratch,
    /// Buffers of the self-check.
    pub check_scratch: CheckScratch,
    /// `true` if the result is checked.
    pub self_check: bool,
    /// Memory reused from earlier classes.
    pub(crate) memory: ReusableBuffers,
}

/// Idle worker stacks.
pub struct WorkerStacks {
    free: Mutex<Vec<WorkerStack>>,
    self_check: bool,
}

thread_local! {
    /// `true` while this crate catches the panics of this thread.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// The text of the last caught panic.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

impl WorkerStacks {
    /// Creates an empty pool; `self_check` means that results are checked.
    pub fn new(self_check: bool) -> Self {
        Self {
            free: Mutex::default(),
            self_check,
        }
    }

    /// Runs `work` on a separate stack.
    ///
    /// # Errors
    /// The text of a panic, or of the failure to get a stack.
    pub fn run<T>(&self, work: impl FnOnce(&mut ScratchBuffers) -> T) -> Result<T, String> {
        let mut worker = match self.free().pop() {
            Some(worker) => worker,
            None => WorkerStack::new(self.self_check)
                .map_err(|error| format!("no memory for a stack: {error}"))?,
        };
        let WorkerStack { stack, buffers } = &mut worker;
        let was_quiet = QUIET.replace(true);
        let result =
            corosensei::on_stack(stack, || catch_unwind(AssertUnwindSafe(|| work(buffers))));
        QUIET.set(was_quiet);
        match result {
            Ok(result) => {
                let mut free = self.free();
                if free.len() < KEPT {
                    free.push(worker);
                }
                Ok(result)
            }
            Err(payload) => Err(said(payload.as_ref())),
        }
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<WorkerStack>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkerStack {
    fn new(self_check: bool) -> std::io::Result<Self> {
        let scratch = Scratch::default();
        Ok(Self {
            stack: DefaultStack::new(STACK)?,
            buffers: Box::new(ScratchBuffers {
                scratch,
                check_scratch: CheckScratch::default(),
                self_check,
                memory: ReusableBuffers::default(),
            }),
        })
    }
}

/// Suppresses message and backtrace of panics that this crate catches.
pub fn quiet_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if QUIET.get() {
                let text = match info.location() {
                    Some(at) => format!("panicked at {at}: {}", payload_text(info.payload())),
                    None => payload_text(info.payload()).to_owned(),
                };
                SAID.with_borrow_mut(|said| *said = text);
            } else {
                previous(info);
            }
        }));
    });
}

fn said(payload: &(dyn Any + Send)) -> String {
    let said = SAID.with_borrow_mut(std::mem::take);
    if said.is_empty() {
        format!("panicked: {}", payload_text(payload))
    } else {
        said
    }
}

fn payload_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(a value that is not a text)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_text_and_place() {
        quiet_panics();
        let stacks = WorkerStacks::new(true);
        let text = stacks
            .run(|_| {
                if true {
                    panic!("number {}", 7)
                }
            })
            .unwrap_err();
        assert!(
            text.starts_with("panicked at ") && text.ends_with(": number 7"),
            "{text}"
        );
        assert_eq!(stacks.run(|_| 1), Ok(1));
    }

    #[test]
    fn work_may_use_more_stack_than_its_thread_has() {
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        let deep = || {
            WorkerStacks::new(true).run(|_| {
                std::hint::black_box([7_u8; 600 << 10])
                    .iter()
                    .map(|byte| u32::from(*byte))
                    .sum::<u32>()
            })
        };
        assert_eq!(
            thread.spawn(deep).unwrap().join().unwrap(),
            Ok(7 * (600 << 10))
        );
    }
}
