//! A value that one thread installs and all threads may use. It is never freed.

use std::sync::atomic::{AtomicPtr, Ordering};

/// A slot for at most one value at a time.
#[derive(Debug)]
pub(crate) struct Installed<T>(AtomicPtr<T>);

impl<T: Send + Sync + 'static> Installed<T> {
    /// An empty slot.
    pub const fn none() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The installed value, if any.
    pub fn get(&self) -> Option<&'static T> {
        // SAFETY: the pointer is null or comes from a box that `install` leaked; the value is never
        // freed, because a callback may use it on another thread at any time.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Installs the value if the slot is empty. Otherwise it returns the value as the error.
    pub fn install(&self, value: Box<T>) -> Result<&'static T, Box<T>> {
        let new = Box::into_raw(value);
        let null = std::ptr::null_mut();
        match self
            .0
            .compare_exchange(null, new, Ordering::AcqRel, Ordering::Acquire)
        {
            // SAFETY: `new` came from a box, which is leaked here.
            Ok(_) => Ok(unsafe { &*new }),
            // SAFETY: `new` came from a box and was not stored anywhere.
            Err(_) => Err(unsafe { Box::from_raw(new) }),
        }
    }

    /// Empties the slot, so that another value can be installed. The value stays in memory.
    pub fn retire(&self) {
        self.0.store(std::ptr::null_mut(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_value_is_returned_until_the_first_is_retired() {
        static PLACE: Installed<u8> = Installed::none();
        assert_eq!(PLACE.get(), None);
        assert_eq!(PLACE.install(Box::new(1)), Ok(&1));
        assert_eq!(PLACE.install(Box::new(2)), Err(Box::new(2)));
        assert_eq!(PLACE.get(), Some(&1));
        PLACE.retire();
        assert_eq!(PLACE.get(), None);
        assert_eq!(PLACE.install(Box::new(3)), Ok(&3));
    }
}
