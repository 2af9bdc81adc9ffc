//! The four entries of JNI's function table that create and delete global references, which are replaced while these
//! are observed (JVM TI, JNI Function Interception).
//!
//! Our functions call those that were in the table before. Native code may have read an entry before it was put back,
//! and another agent may have put its own function in front of ours. So ours work for as long as the process runs; those
//! that observe nothing only call the next one.

use super::error::JvmtiError;
use super::guard::{guard, is_open};
use super::handlers;
use super::jvmti::Jvmti;
use super::observed::Handle;
use super::phases::Live;
use super::refs::{Local, LocalRef};
use super::table::JniFunction;
use jni_sys::{JNIEnv, jobject};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Entries that are replaced.
const ENTRIES: usize = 4;
/// Their places in the table (JNI, Interface Function Table).
const PLACES: [usize; ENTRIES] = [21, 22, 226, 227];
/// Most functions in front of which ours can be; it is more than one where other agents stay in front of ours.
const LEVELS: usize = 8;

/// The entries, in the order of [`PLACES`].
#[derive(Clone, Copy)]
enum Entry {
    Create,
    Delete,
    CreateWeak,
    DeleteWeak,
}

/// The functions behind one of ours: the JVM's own, and those of agents that came before ours did so again.
struct Behind {
    functions: [AtomicPtr<c_void>; LEVELS],
    count: AtomicUsize,
}

static BEHIND: [Behind; ENTRIES] = [const { Behind::none() }; ENTRIES];
static IS_OBSERVED: AtomicBool = AtomicBool::new(false);
/// Held while entries are exchanged.
static EXCHANGE: Mutex<()> = Mutex::new(());

thread_local! {
    /// The number of open calls of each of our functions on this thread.
    static CALLS: [Cell<usize>; ENTRIES] = const { [const { Cell::new(0) }; ENTRIES] };
}

impl Behind {
    const fn none() -> Self {
        Self {
            functions: [const { AtomicPtr::new(null_mut()) }; LEVELS],
            count: AtomicUsize::new(0),
        }
    }

    /// Returns the function to call next from ours, which has `calls` open calls on this thread. A function behind ours
    /// calls ours again if ours was in the table when its agent came.
    fn next(&self, calls: usize) -> *mut c_void {
        let count = self.count.load(Ordering::Acquire);
        let at = count.saturating_sub(calls + 1).min(LEVELS - 1);
        self.functions[at].load(Ordering::Acquire)
    }

    /// Puts ours in front of one more; false if there is no room.
    fn push(&self, function: *mut c_void) -> bool {
        let count = self.count.load(Ordering::Acquire);
        let Some(place) = self.functions.get(count) else {
            return false;
        };
        place.store(function, Ordering::Release);
        self.count.store(count + 1, Ordering::Release);
        true
    }

    /// Forgets the last one. The first stays, as ours may be called at any time.
    fn pop(&self) {
        let count = self.count.load(Ordering::Acquire);
        self.count.store(count.max(2) - 1, Ordering::Release);
    }

    /// Checks whether the JVM's own function is known.
    fn is_there(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }
}

/// The cause if entries cannot be replaced.
#[derive(Debug)]
pub(crate) enum NotReplaced {
    /// The JVM refuses it.
    Refused(JvmtiError),
    /// Too many functions of other agents are in front of ours.
    NoRoom,
}

/// Replaces the entries, and reports each global reference that is created or deleted from now on.
///
/// # Errors
///
/// The table is as before then.
pub(crate) fn observe(jvmti: Jvmti, live: Live) -> Result<(), NotReplaced> {
    let _turn = EXCHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut replaced: Vec<&Behind> = Vec::new();
    let undo = |replaced: &[&Behind]| replaced.iter().for_each(|behind| behind.pop());
    let table = JniTable::read(jvmti, live).map_err(NotReplaced::Refused)?;
    for ((place, ours), behind) in PLACES.into_iter().zip(OURS).zip(&BEHIND) {
        let there = table.get(place);
        if there == ours {
            continue; // put back by an agent that came while it was there
        }
        // A function that ours calls already is not added again.
        if !(behind.is_there() && behind.next(0) == there) {
            if !behind.push(there) {
                undo(&replaced);
                return Err(NotReplaced::NoRoom);
            }
            replaced.push(behind);
        }
        table.set(place, ours);
    }
    table.write(live).map_err(|error| {
        undo(&replaced);
        NotReplaced::Refused(error)
    })?;
    IS_OBSERVED.store(true, Ordering::Release);
    Ok(())
}

/// Reports nothing any more, and puts those entries back which no other agent has replaced meanwhile.
pub(crate) fn leave(jvmti: Jvmti, live: Live) {
    let _turn = EXCHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    IS_OBSERVED.store(false, Ordering::Release);
    let Ok(table) = JniTable::read(jvmti, live) else {
        return;
    };
    let mut restored: Vec<&Behind> = Vec::new();
    for ((place, ours), behind) in PLACES.into_iter().zip(OURS).zip(&BEHIND) {
        if table.get(place) == ours {
            table.set(place, behind.next(0));
            restored.push(behind);
        }
    }
    if table.write(live).is_ok() {
        restored.iter().for_each(|behind| behind.pop());
    }
}

/// A copy of the table, in memory of the JVM.
struct JniTable {
    jvmti: Jvmti,
    entries: NonNull<JniFunction>,
}

impl JniTable {
    fn read(jvmti: Jvmti, live: Live) -> Result<Self, JvmtiError> {
        let entries = jvmti.jni_function_table(live)?;
        Ok(Self { jvmti, entries })
    }

    fn get(&self, place: usize) -> *mut c_void {
        // SAFETY: the JVM's copy has all functions of its JNI version, which is 1.6 or newer.
        unsafe { *self.entries.as_ptr().add(place) }.cast_mut()
    }

    fn set(&self, place: usize, function: *mut c_void) {
        // SAFETY: as above, and nothing else refers to this copy.
        unsafe { *self.entries.as_ptr().add(place) = function };
    }

    /// Has the JVM take it over.
    fn write(&self, live: Live) -> Result<(), JvmtiError> {
        self.jvmti.set_jni_function_table(live, self.entries)
    }
}

impl Drop for JniTable {
    fn drop(&mut self) {
        self.jvmti.free(self.entries);
    }
}

/// Ours, in the order of [`PLACES`].
const OURS: [*mut c_void; ENTRIES] = [
    new_global_ref as *mut c_void,
    delete_global_ref as *mut c_void,
    new_weak_global_ref as *mut c_void,
    delete_weak_global_ref as *mut c_void,
];

/// `NewGlobalRef` and `NewWeakGlobalRef`.
type New = unsafe extern "system" fn(*mut JNIEnv, jobject) -> jobject;
/// `DeleteGlobalRef` and `DeleteWeakGlobalRef`.
type Delete = unsafe extern "system" fn(*mut JNIEnv, jobject);

/// Calls `body` with the next function, and whether ours is called by the program: not by a function behind it, nor for
/// the agent's own work.
fn through<R>(entry: Entry, body: impl FnOnce(*mut c_void, bool) -> R) -> R {
    let at = entry as usize;
    // A thread that ends may have no cell any more.
    let calls = CALLS.try_with(|calls| calls[at].replace(calls[at].get() + 1));
    let calls = calls.unwrap_or(0);
    let is_observed = calls == 0 && IS_OBSERVED.load(Ordering::Acquire) && !is_open();
    let result = body(BEHIND[at].next(calls), is_observed);
    let _ = CALLS.try_with(|all| all[at].set(calls));
    result
}

fn create(entry: Entry, env: *mut JNIEnv, object: jobject, is_weak: bool) -> jobject {
    through(entry, |next, is_observed| {
        if next.is_null() {
            return null_mut(); // never: ours is in the table once the next one is known
        }
        // SAFETY: the pointer was at the place of such a function in JNI's table; the arguments are the caller's.
        let made = unsafe { std::mem::transmute::<*mut c_void, New>(next)(env, object) };
        if is_observed && !made.is_null() {
            report(env, made, is_weak);
        }
        made
    })
}

fn delete(entry: Entry, env: *mut JNIEnv, reference: jobject, is_weak: bool) {
    through(entry, |next, is_observed| {
        if is_observed && !reference.is_null() {
            // Before: once it is deleted, another thread may get the same handle.
            let handle = handle(reference, is_weak);
            if let Some(handlers) = handlers::get() {
                guard((), || handlers.reference_deleted(handle));
            }
        }
        if !next.is_null() {
            // SAFETY: as in `create`.
            unsafe { std::mem::transmute::<*mut c_void, Delete>(next)(env, reference) };
        }
    });
}

fn handle(reference: jobject, is_weak: bool) -> Handle {
    Handle {
        address: reference as usize,
        is_weak,
    }
}

fn report(env: *mut JNIEnv, made: jobject, is_weak: bool) {
    let (Some(handlers), Some(env)) = (handlers::get(), NonNull::new(env)) else {
        return;
    };
    // SAFETY: the environment with which the calling thread calls JNI; references are observed in the live phase only.
    let local = unsafe { Local::new(env) };
    let told = |local: Local<'_>| {
        // The object of a weak reference may be gone already.
        let object: Option<LocalRef<'_>> = local.localize(made);
        if let Some(object) = object {
            let handle = handle(made, is_weak);
            handlers.reference_created(Live::entered(), local, &object, handle);
        }
    };
    guard((), || {
        local.keeping_exception(|| local.with_frame(CAPACITY, told));
    });
}

/// Local references of one report.
const CAPACITY: i32 = 16;

unsafe extern "system" fn new_global_ref(env: *mut JNIEnv, object: jobject) -> jobject {
    create(Entry::Create, env, object, false)
}

unsafe extern "system" fn delete_global_ref(env: *mut JNIEnv, reference: jobject) {
    delete(Entry::Delete, env, reference, false);
}

unsafe extern "system" fn new_weak_global_ref(env: *mut JNIEnv, object: jobject) -> jobject {
    create(Entry::CreateWeak, env, object, true)
}

unsafe extern "system" fn delete_weak_global_ref(env: *mut JNIEnv, reference: jobject) {
    delete(Entry::DeleteWeak, env, reference, true);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of the functions in `jni.h` of each JDK at hand.
    #[test]
    fn places_match_every_jni_header() {
        let folders = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten();
        for folder in folders.flatten() {
            let Ok(header) = std::fs::read_to_string(folder.path().join("include/jni.h")) else {
                continue;
            };
            let table = header.split("struct JNINativeInterface_ {").nth(1);
            let table = table.and_then(|rest| rest.split("struct JNIEnv_ {").next());
            let reserved = 4;
            let names = table.expect("the table").split("(JNICALL *").skip(1);
            let names: Vec<&str> = names.filter_map(|rest| rest.split(')').next()).collect();
            let at = PLACES.map(|place| names[place - reserved].trim());
            let expected = [
                "NewGlobalRef",
                "DeleteGlobalRef",
                "NewWeakGlobalRef",
                "DeleteWeakGlobalRef",
            ];
            assert_eq!(at, expected, "{}", folder.path().display());
        }
    }

    #[test]
    fn function_that_is_called_again_for_one_call_leads_to_the_one_before() {
        let behind = Behind::none();
        assert!(!behind.is_there() && behind.next(0).is_null());
        let [jvm, other] = [8, 16].map(|address| address as *mut c_void);
        assert!(behind.push(jvm) && behind.push(other));
        assert_eq!([0, 1, 2].map(|calls| behind.next(calls)), [other, jvm, jvm]);
        behind.pop();
        assert_eq!(behind.next(0), jvm);
        behind.pop();
        assert_eq!(behind.next(0), jvm, "ours may still be called");
        while behind.push(other) {}
        assert_eq!(behind.count.load(Ordering::Relaxed), LEVELS);
    }
}
