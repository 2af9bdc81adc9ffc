//! Queries of the state of the JVM at one moment.

use super::methods::StackFrame;
use super::{Jvmti, JvmtiError, Live, Local, LocalRef};
use crate::ffi::guard::guard;
use crate::ffi::table::{HEAP_FILTER_CLASS_UNTAGGED, HeapCallbacks, StackInfo};
use crate::names::decode;
use jni_sys::{jint, jobject};
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;

/// `JVMTI_VISIT_OBJECTS`.
const VISIT_OBJECTS: jint = 0x100;

impl Jvmti {
    /// All threads with their states (JVM TI, GetThreadState) and innermost frames, at one instant.
    pub fn all_stacks<'a>(
        self,
        _: Live,
        local: Local<'a>,
        most: usize,
    ) -> Result<Vec<(LocalRef<'a>, u32, Vec<StackFrame>)>, JvmtiError> {
        let most = jint::try_from(most).map_err(|_| JvmtiError::OUT_OF_MEMORY)?;
        let (mut stacks, mut count) = (null_mut::<StackInfo>(), 0);
        call!(self.GetAllStackTraces(most, &raw mut stacks, &raw mut count))?;
        let found = self.take_stacks(stacks, count).into_iter();
        let found = found.filter_map(|(thread, state, frames)| {
            let thread = local.adopt(thread)?;
            Some((thread, state, frames))
        });
        Ok(found.collect())
    }

    /// The state (JVM TI, GetThreadState) and the innermost frames of a platform thread, both at one instant.
    pub fn state_and_stack(
        self,
        _: Live,
        thread: &LocalRef<'_>,
        most: usize,
    ) -> Result<(u32, Vec<StackFrame>), JvmtiError> {
        let most = jint::try_from(most).map_err(|_| JvmtiError::OUT_OF_MEMORY)?;
        let (mut stacks, threads) = (null_mut::<StackInfo>(), [thread.as_raw()]);
        call!(self.GetThreadListStackTraces(1, threads.as_ptr(), most, &raw mut stacks))?;
        // The thread is the reference that was passed in.
        let mut found = self.take_stacks(stacks, 1);
        let (_, state, frames) = found.pop().ok_or(JvmtiError::NOT_AVAILABLE)?;
        Ok((state, frames))
    }

    /// Copies stacks that the JVM returned, and frees them.
    fn take_stacks(
        self,
        stacks: *mut StackInfo,
        count: jint,
    ) -> Vec<(jobject, u32, Vec<StackFrame>)> {
        let mut found = Vec::new();
        for at in 0..usize::try_from(count).unwrap_or(0) {
            // SAFETY: the JVM returned `count` stacks (JVM TI, GetAllStackTraces), which are valid until they are
            // freed.
            let stack = unsafe { &*stacks.add(at) };
            let length = usize::try_from(stack.frame_count).unwrap_or(0);
            let frames = (0..length).filter_map(|at| {
                // SAFETY: the buffer contains `frame_count` frames, in the same allocation.
                let frame = unsafe { *stack.frame_buffer.add(at) };
                StackFrame::new(frame)
            });
            let frames = frames.collect();
            found.push((stack.thread, stack.state.cast_unsigned(), frames));
        }
        self.deallocate(stacks.cast()); // including the frames
        found
    }

    /// The number of objects and of their bytes for each class, by the tags 1 to `classes` of the classes. The program
    /// is paused meanwhile.
    pub fn count_by_class(self, _: Live, classes: usize) -> Result<Vec<(u64, u64)>, JvmtiError> {
        let mut counts: Vec<(u64, u64)> = vec![(0, 0); classes];
        let callbacks = HeapCallbacks {
            heap_iteration_callback: Some(counted),
            ..HeapCallbacks::default()
        };
        call!(self.IterateThroughHeap(
            HEAP_FILTER_CLASS_UNTAGGED,
            null_mut(),
            &raw const callbacks,
            (&raw mut counts).cast_const().cast(),
        ))?;
        Ok(counts)
    }

    /// The names and values of the JVM's system properties, as they were at its start.
    pub fn system_properties(self, live: Live) -> Result<Vec<(String, String)>, JvmtiError> {
        let (mut count, mut names) = (0, null_mut::<*mut c_char>());
        call!(self.GetSystemProperties(&raw mut count, &raw mut names))?;
        let names = self.take_array(names, count).into_iter();
        let names: Vec<Vec<u8>> = names.filter_map(|name| self.take_string(name)).collect();
        let property = |name: Vec<u8>| {
            let asked = std::ffi::CString::new(name.clone()).ok()?;
            Some((decode(&name), self.system_property(live, &asked)?))
        };
        Ok(names.into_iter().filter_map(property).collect())
    }
}

unsafe extern "system" fn counted(
    class_tag: i64,
    size: i64,
    _: *mut i64,
    _: jint,
    counts: *mut c_void,
) -> jint {
    guard(VISIT_OBJECTS, || {
        // SAFETY: `count_by_class` passes its list, which has no other user until the JVM has visited all objects.
        let counts = unsafe { &mut *counts.cast::<Vec<(u64, u64)>>() };
        let at = class_tag
            .checked_sub(1)
            .and_then(|at| usize::try_from(at).ok());
        if let Some((count, bytes)) = at.and_then(|at| counts.get_mut(at)) {
            *count += 1;
            *bytes += size.cast_unsigned();
        }
        VISIT_OBJECTS
    })
}
