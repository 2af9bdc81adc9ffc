//! The four entries of JNI's function table that create and delete global references. They are replaced while these are
//! recorded (JVM TI, JNI Function Interception).
//!
//! The agent's functions call those that were in the table before. Native code may have read an entry before it was
//! restored, and another agent may have put its own function in front. So the agent's functions stay valid as long as
//! the process runs. Without a recording they only call the next one.

use super::error::JvmtiError;
use super::guard::{guard, is_open};
use super::handlers;
use super::jvm_events::GlobalRefHandle;
use super::jvmti::Jvmti;
use super::phases::Live;
use super::refs::{Local, LocalRef};
use super::table::JniFunction;
use jni_sys::{JNIEnv, jobject};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Number of replaced entries.
const ENTRIES: usize = 4;
/// Their indices in the table (JNI, Interface Function Table).
const INDICES: [usize; ENTRIES] = [21, 22, 226, 227];
/// Largest number of next functions for an entry. There is more than one if other agents stay in front of the agent's
/// function.
const LEVELS: usize = 8;

/// The entries, in the order of [`INDICES`].
#[derive(Clone, Copy)]
enum JniEntry {
    Create,
    Delete,
    CreateWeak,
    DeleteWeak,
}

/// The next functions after one of the agent's: the JVM's own, and those of other agents that were in the table at
/// later recordings.
struct NextFunctions {
    functions: [AtomicPtr<c_void>; LEVELS],
    count: AtomicUsize,
}

static NEXT_FUNCTIONS: [NextFunctions; ENTRIES] = [const { NextFunctions::none() }; ENTRIES];
static IS_RECORDED: AtomicBool = AtomicBool::new(false);
/// Held while entries are replaced.
static EXCHANGE: Mutex<()> = Mutex::new(());

thread_local! {
    /// The number of active calls of each of the agent's functions on this thread.
    static CALLS: [Cell<usize>; ENTRIES] = const { [const { Cell::new(0) }; ENTRIES] };
}

impl NextFunctions {
    const fn none() -> Self {
        Self {
            functions: [const { AtomicPtr::new(null_mut()) }; LEVELS],
            count: AtomicUsize::new(0),
        }
    }

    /// Returns the function that the agent's function calls next if it has `calls` active calls on this thread. A next
    /// function calls the agent's again if that was in the table when the other agent was loaded.
    fn next(&self, calls: usize) -> *mut c_void {
        let count = self.count.load(Ordering::Acquire);
        let at = count.saturating_sub(calls + 1).min(LEVELS - 1);
        self.functions[at].load(Ordering::Acquire)
    }

    /// Adds a next function. Returns false if there is no room.
    fn push(&self, function: *mut c_void) -> bool {
        let count = self.count.load(Ordering::Acquire);
        let Some(index) = self.functions.get(count) else {
            return false;
        };
        index.store(function, Ordering::Release);
        self.count.store(count + 1, Ordering::Release);
        true
    }

    /// Removes the last next function. The first stays, as the agent's function may be called at any time.
    fn pop(&self) {
        let count = self.count.load(Ordering::Acquire);
        self.count.store(count.max(2) - 1, Ordering::Release);
    }

    /// Checks whether the JVM's own function is known.
    fn is_there(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }
}

/// The reason why entries cannot be replaced.
#[derive(Debug)]
pub(crate) enum NotReplaced {
    /// The JVM refuses it.
    Refused(JvmtiError),
    /// Too many functions of other agents are in front of the agent's.
    NoRoom,
}

/// Replaces the entries, and reports each global reference that is created or deleted from now on.
///
/// # Errors
///
/// The table is unchanged then.
pub(crate) fn record(jvmti: Jvmti, live: Live) -> Result<(), NotReplaced> {
    let _turn = EXCHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut replaced: Vec<&NextFunctions> = Vec::new();
    let undo = |replaced: &[&NextFunctions]| {
        replaced
            .iter()
            .for_each(|next_functions| next_functions.pop())
    };
    let table = JniTable::read(jvmti, live).map_err(NotReplaced::Refused)?;
    for ((index, ours), next_functions) in INDICES.into_iter().zip(OURS).zip(&NEXT_FUNCTIONS) {
        let there = table.get(index);
        if there == ours {
            continue; // restored by another agent, which was loaded during an earlier recording
        }
        // A function that the agent's calls already is not added again.
        if !(next_functions.is_there() && next_functions.next(0) == there) {
            if !next_functions.push(there) {
                undo(&replaced);
                return Err(NotReplaced::NoRoom);
            }
            replaced.push(next_functions);
        }
        table.set(index, ours);
    }
    table.write(live).map_err(|error| {
        undo(&replaced);
        NotReplaced::Refused(error)
    })?;
    IS_RECORDED.store(true, Ordering::Release);
    Ok(())
}

/// Stops reporting, and restores the entries that no other agent has replaced meanwhile.
pub(crate) fn leave(jvmti: Jvmti, live: Live) {
    let _turn = EXCHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    IS_RECORDED.store(false, Ordering::Release);
    let Ok(table) = JniTable::read(jvmti, live) else {
        return;
    };
    let mut restored: Vec<&NextFunctions> = Vec::new();
    for ((index, ours), next_functions) in INDICES.into_iter().zip(OURS).zip(&NEXT_FUNCTIONS) {
        if table.get(index) == ours {
            table.set(index, next_functions.next(0));
            restored.push(next_functions);
        }
    }
    if table.write(live).is_ok() {
        restored
            .iter()
            .for_each(|next_functions| next_functions.pop());
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

    fn get(&self, index: usize) -> *mut c_void {
        // SAFETY: the JVM's copy has all functions of its JNI version, which is 1.6 or newer.
        unsafe { *self.entries.as_ptr().add(index) }.cast_mut()
    }

    fn set(&self, index: usize, function: *mut c_void) {
        // SAFETY: as above, and this copy has no other user.
        unsafe { *self.entries.as_ptr().add(index) = function };
    }

    /// Makes the JVM use the copy.
    fn write(&self, live: Live) -> Result<(), JvmtiError> {
        self.jvmti.set_jni_function_table(live, self.entries)
    }
}

impl Drop for JniTable {
    fn drop(&mut self) {
        self.jvmti.free(self.entries);
    }
}

/// The agent's functions, in the order of [`INDICES`].
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

/// Calls `body` with the next function. The second argument is true if the program is the caller, and not a next
/// function or the agent itself.
fn call_next<R>(entry: JniEntry, body: impl FnOnce(*mut c_void, bool) -> R) -> R {
    let at = entry as usize;
    // A thread that is ending may have no cell any more.
    let calls = CALLS.try_with(|calls| calls[at].replace(calls[at].get() + 1));
    let calls = calls.unwrap_or(0);
    let is_recorded = calls == 0 && IS_RECORDED.load(Ordering::Acquire) && !is_open();
    let result = body(NEXT_FUNCTIONS[at].next(calls), is_recorded);
    let _ = CALLS.try_with(|all| all[at].set(calls));
    result
}

fn create(entry: JniEntry, env: *mut JNIEnv, object: jobject, is_weak: bool) -> jobject {
    call_next(entry, |next, is_recorded| {
        if next.is_null() {
            return null_mut(); // never happens: the agent's function is in the table only when the next one is known
        }
        // SAFETY: the pointer was at the index of such a function in JNI's table; the arguments are the caller's.
        let made = unsafe { std::mem::transmute::<*mut c_void, New>(next)(env, object) };
        if is_recorded && !made.is_null() {
            report(env, made, is_weak);
        }
        made
    })
}

fn delete(entry: JniEntry, env: *mut JNIEnv, reference: jobject, is_weak: bool) {
    call_next(entry, |next, is_recorded| {
        if is_recorded && !reference.is_null() {
            // Before the deletion: afterwards another thread may get the same handle.
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

fn handle(reference: jobject, is_weak: bool) -> GlobalRefHandle {
    GlobalRefHandle {
        address: reference as usize,
        is_weak,
    }
}

fn report(env: *mut JNIEnv, made: jobject, is_weak: bool) {
    let (Some(handlers), Some(env)) = (handlers::get(), NonNull::new(env)) else {
        return;
    };
    // SAFETY: the environment with which the calling thread calls JNI; references are recorded in the live phase only.
    let local = unsafe { Local::new(env) };
    let told = |local: Local<'_>| {
        // The object of a weak reference may be collected already.
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

/// Local references for one report.
const CAPACITY: i32 = 16;

unsafe extern "system" fn new_global_ref(env: *mut JNIEnv, object: jobject) -> jobject {
    create(JniEntry::Create, env, object, false)
}

unsafe extern "system" fn delete_global_ref(env: *mut JNIEnv, reference: jobject) {
    delete(JniEntry::Delete, env, reference, false);
}

unsafe extern "system" fn new_weak_global_ref(env: *mut JNIEnv, object: jobject) -> jobject {
    create(JniEntry::CreateWeak, env, object, true)
}

unsafe extern "system" fn delete_weak_global_ref(env: *mut JNIEnv, reference: jobject) {
    delete(JniEntry::DeleteWeak, env, reference, true);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the indices with `jni.h` of each installed JDK.
    #[test]
    fn indices_match_every_jni_header() {
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
            let at = INDICES.map(|index| names[index - reserved].trim());
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
    fn nested_call_of_a_replaced_function_reaches_the_function_before() {
        let next_functions = NextFunctions::none();
        assert!(!next_functions.is_there() && next_functions.next(0).is_null());
        let [jvm, other] = [8, 16].map(|address| address as *mut c_void);
        assert!(next_functions.push(jvm) && next_functions.push(other));
        assert_eq!(
            [0, 1, 2].map(|calls| next_functions.next(calls)),
            [other, jvm, jvm]
        );
        next_functions.pop();
        assert_eq!(next_functions.next(0), jvm);
        next_functions.pop();
        assert_eq!(next_functions.next(0), jvm, "ours may still be called");
        while next_functions.push(other) {}
        assert_eq!(next_functions.count.load(Ordering::Relaxed), LEVELS);
    }
}
