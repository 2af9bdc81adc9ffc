//! The arrays that probes write to: defined, copied, set to zero, and read in place.

use super::error::JvmtiError;
use super::jvm::Jvm;
use super::live::with_env;
use super::refs::{Local, jni};
use jni::objects::{JByteArray, JClass, JClassLoader};
use jni::refs::Global;
use jni::strings::JNIStr;
use jni::{jni_sig, jni_str};
use jni_sys::{JNI_ABORT, jobject};
use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicI8, Ordering};

/// A `hits` array of the JVM and its class, held by global references until the process ends.
#[derive(Debug)]
pub(crate) struct ProbeArray {
    hits: Global<JByteArray<'static>>,
    class: Global<JClass<'static>>,
}

/// Defines a class in the bootstrap loader and returns its static `hits` array.
///
/// # Errors
///
/// The exception that the JVM threw.
pub(crate) fn define_probe_class(
    jvm: Jvm<'_>,
    name: &CStr,
    bytes: &[u8],
) -> Result<ProbeArray, String> {
    let name = JNIStr::from_cstr(name).ok_or("the name is not modified UTF-8")?;
    with_env(jvm, |env| {
        let class = env.define_class(Some(name), JClassLoader::null(), bytes)?;
        let hits = env
            .get_static_field(&class, jni_str!("hits"), jni_sig!("[B"))?
            .l()?;
        let hits = env.cast_local::<JByteArray<'_>>(hits)?;
        Ok(ProbeArray {
            hits: env.new_global_ref(&hits)?,
            class: env.new_global_ref(&class)?,
        })
    })
}

/// Discards all compiled code that contains elements of these arrays as constants. Such code depends on methods of the
/// arrays' classes, which are retransformed. Threads in such code go on in the interpreter.
///
/// # Errors
///
/// The JVM's refusal.
pub(crate) fn discard_compiled(jvm: Jvm<'_>, arrays: &[Arc<ProbeArray>]) -> Result<(), JvmtiError> {
    let classes: Vec<jobject> = arrays.iter().map(|array| array.class.as_raw()).collect();
    jvm.jvmti.retransform_raw(jvm.live, &classes)
}

/// Copies the first `buffer.len()` bytes of an array.
///
/// # Errors
///
/// The exception that the JVM threw.
pub(crate) fn read_array(
    jvm: Jvm<'_>,
    array: &ProbeArray,
    buffer: &mut [i8],
) -> Result<(), String> {
    with_env(jvm, |env| array.hits.get_region(env, 0, buffer))
}

/// Sets `count` bytes of an array from `base` on to zero.
///
/// # Errors
///
/// The exception that the JVM threw.
pub(crate) fn zero_array(
    jvm: Jvm<'_>,
    array: &ProbeArray,
    base: u16,
    count: u32,
) -> Result<(), String> {
    let zeros = vec![0; count as usize];
    with_env(jvm, |env| array.hits.set_region(env, base.into(), &zeros))
}

/// Sets the elements at these indices to zero, and calls `taken` with the index and the former value of each that was
/// not zero. A later store stays for the next call, so no hit is lost.
///
/// # Errors
///
/// The exception that the JVM threw.
pub(crate) fn take_elements(
    jvm: Jvm<'_>,
    array: &ProbeArray,
    indices: &[u16],
    mut taken: impl FnMut(u16, i8),
) -> Result<(), String> {
    {
        let elements = CriticalElements::of(jvm, array)?;
        if let Ok(elements) = elements.shared() {
            for index in indices {
                let element = elements.get(usize::from(*index));
                match element.map_or(0, |element| element.swap(0, Ordering::Relaxed)) {
                    0 => {}
                    byte => taken(*index, byte),
                }
            }
            return Ok(());
        }
    }
    // A JVM that gives no access to the array itself, as HotSpot with `-Xcheck:jni`.
    for index in indices {
        let mut byte = [0];
        with_env(jvm, |env| {
            array.hits.get_region(env, i32::from(*index), &mut byte)?;
            array.hits.set_region(env, i32::from(*index), &[0])
        })?;
        if byte[0] != 0 {
            taken(*index, byte[0]);
        }
    }
    Ok(())
}

/// The elements of an array in the JVM's own memory, until it is dropped.
///
/// Meanwhile no function of JNI may be called, not even for a pending exception, as the crate `jni` does (JNI
/// specification, chapter 4, GetPrimitiveArrayCritical). The thread must not wait for another thread either.
struct CriticalElements<'a> {
    local: Local<'a>,
    array: jobject,
    start: NonNull<i8>,
    length: usize,
    is_copy: bool,
}

impl<'a> CriticalElements<'a> {
    fn of(jvm: Jvm<'a>, array: &ProbeArray) -> Result<Self, String> {
        let (local, array) = (jvm.local, array.hits.as_raw());
        let length = jni!(local, v1_1.GetArrayLength, array);
        let mut is_copy = false;
        let start = jni!(
            local,
            v1_2.GetPrimitiveArrayCritical,
            array,
            &raw mut is_copy
        );
        let Some(start) = NonNull::new(start.cast()) else {
            local.clear_exception();
            return Err("the JVM has no memory for the elements of an array".to_owned());
        };
        // With `-Xcheck:jni` HotSpot returns a copy without reporting it, and another one each time.
        let unsaid = std::ptr::null_mut();
        let again = jni!(local, v1_2.GetPrimitiveArrayCritical, array, unsaid);
        match NonNull::new(again.cast::<i8>()) {
            Some(again) => {
                is_copy |= again != start;
                let again = again.as_ptr().cast();
                jni!(
                    local,
                    v1_2.ReleasePrimitiveArrayCritical,
                    array,
                    again,
                    JNI_ABORT
                );
            }
            None => {
                local.clear_exception();
                is_copy = true;
            }
        }
        let length = usize::try_from(length).unwrap_or(0);
        Ok(Self {
            local,
            array,
            start,
            length,
            is_copy,
        })
    }

    /// The elements, which Java code may write at any time.
    fn shared(&self) -> Result<&[AtomicI8], String> {
        if self.is_copy {
            return Err("the JVM gives a copy".to_owned());
        }
        // SAFETY: the array has this many elements, and does not move as long as `self` lives. Java code writes single
        // bytes of it, and other threads see them as such.
        Ok(unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.length) })
    }
}

impl Drop for CriticalElements<'_> {
    fn drop(&mut self) {
        let start = self.start.as_ptr().cast();
        jni!(
            self.local,
            v1_2.ReleasePrimitiveArrayCritical,
            self.array,
            start,
            JNI_ABORT
        );
    }
}
