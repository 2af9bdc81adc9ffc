//! The continuations of Kotlin's coroutines. Their fields are read, and none of their methods is called.

use super::reader::Reader;
use super::refs::{LocalRef, WeakRef};
use probes::spans::suspending::SuspendEntry;
use probes::spans::{Continuations, Kept};

/// The field with the position in the code at which a continuation resumes.
const LABEL: &str = "label";
/// Set in `label` while a function is entered again.
const GOES_ON: i32 = i32::MIN;
/// The fields with the next continuation: of a flow's collector, of compiled code, of a scope within a coroutine.
const NEXT: [&str; 3] = ["completion_", "completion", "uCont"];
/// The enum of the value that a function returns when it suspends, and its constant.
const SINGLETONS: &str = "kotlin/coroutines/intrinsics/CoroutineSingletons";
const SUSPENDED: &str = "COROUTINE_SUSPENDED";
/// The class that wraps the exception of a resumed continuation, and its field.
const FAILURE: &str = "kotlin/Result$Failure";
const EXCEPTION: &str = "exception";

/// Reads continuations.
impl<'a> Reader<'a> {
    /// The entry of a function, from the continuation that is passed to it.
    pub fn entry_of_function(self, passed: &LocalRef<'a>) -> Option<SuspendEntry<LocalRef<'a>>> {
        let goes_on = self.label(passed).is_some_and(|label| label & GOES_ON != 0);
        let completion = if goes_on {
            self.completion(passed)?
        } else {
            self.again(passed)?
        };
        Some(SuspendEntry {
            completion,
            goes_on,
        })
    }

    /// The entry of a lambda, which is its own continuation.
    pub fn entry_of_lambda(self, lambda: &LocalRef<'a>) -> Option<SuspendEntry<LocalRef<'a>>> {
        Some(SuspendEntry {
            completion: self.completion(lambda)?,
            goes_on: self.label(lambda).is_some_and(|label| label != 0),
        })
    }

    fn label(self, continuation: &LocalRef<'_>) -> Option<i32> {
        self.int_in(continuation, LABEL)
    }

    /// Another reference to the same object.
    fn again(self, object: &LocalRef<'a>) -> Option<LocalRef<'a>> {
        self.local.borrow(object.as_raw())
    }

    /// Checks whether a function that returns this value suspends.
    pub fn is_suspended(self, returned: &LocalRef<'_>) -> bool {
        self.is_named(returned, SINGLETONS)
            && self.values.is_constant(self.local, returned, SUSPENDED)
    }

    /// Returns the exception with which a continuation resumes; `None` for a value.
    pub fn failure(self, result: &LocalRef<'_>) -> Option<LocalRef<'a>> {
        if !self.is_named(result, FAILURE) {
            return None;
        }
        self.object_in(result, EXCEPTION)
    }

    /// The number of an object's class.
    pub fn class_number(self, object: &LocalRef<'_>) -> Option<u32> {
        let (number, _) = self.class_of(object)?;
        Some(number)
    }

    fn is_named(self, object: &LocalRef<'_>, class: &str) -> bool {
        let number = self.class_number(object);
        number.is_some_and(|number| &*self.runtime.name(number) == class)
    }
}

impl<'a> Continuations for Reader<'a> {
    type Object = LocalRef<'a>;

    fn hash(&self, object: &LocalRef<'a>) -> u32 {
        self.jvmti.identity_hash(object).unwrap_or_default()
    }

    fn completion(&self, object: &LocalRef<'a>) -> Option<LocalRef<'a>> {
        let next = |name: &&str| self.object_in(object, name);
        NEXT.iter().find_map(next)
    }

    fn keep(&self, object: &LocalRef<'a>) -> Option<Kept> {
        let weak = self.local.weaken(object)?;
        Some(Kept(weak.into_address()))
    }

    fn is(&self, object: &LocalRef<'a>, kept: &Kept) -> bool {
        let weak = WeakRef::of_address(kept.0);
        weak.is_some_and(|weak| self.local.is_same_weak(object, &weak))
    }

    fn is_collected(&self, kept: &Kept) -> bool {
        let weak = WeakRef::of_address(kept.0);
        weak.is_some_and(|weak| self.local.is_cleared(&weak))
    }

    fn release(&self, kept: Kept) {
        if let Some(weak) = WeakRef::of_address(kept.0) {
            self.local.release_weak(weak);
        }
    }
}
