//! JNI functions of the live phase that may run Java code, through the `jni` crate.
//!
//! The class-file load hook calls nothing in this module.

use super::jvm::Jvm;
use super::natives;
use super::refs::{GlobalRef, LocalRef};
use crate::names::{decode, display_name};
use jni::errors::{Error, Result};
use jni::objects::{JByteArray, JClass, JClassLoader, JLongArray, JObject, JString, JValue};
use jni::refs::Global;
use jni::strings::JNIStr;
use jni::{Env, EnvUnowned, Outcome, jni_sig, jni_str};
use std::ffi::CStr;

/// Number of bytes that are read from a stream at once.
const PART: usize = 16 << 10;

/// A class with an array of counters, which is allocated at the first use of the class.
#[derive(Debug)]
pub(crate) struct CountArray(Global<JClass<'static>>);

/// The built-in class loaders of the JVM.
#[derive(Debug)]
pub(crate) struct BuiltinLoaders {
    /// `ClassLoader.getSystemClassLoader()`.
    pub system: GlobalRef,
    /// `ClassLoader.getPlatformClassLoader()`; in JDK 8, which lacks that method, the extension class loader.
    pub platform: GlobalRef,
}

/// Runs `body` in a local frame. An exception is cleared, and the error names its class.
pub(super) fn with_env<R>(
    jvm: Jvm<'_>,
    body: impl FnOnce(&mut Env<'_>) -> Result<R>,
) -> std::result::Result<R, String> {
    // SAFETY: `Local` holds the environment of this thread's running callback.
    let mut unowned = unsafe { EnvUnowned::from_raw(jvm.local.as_raw()) };
    let outcome = unowned
        .with_env(|env| env.with_local_frame(16, body))
        .into_outcome();
    match outcome {
        Outcome::Ok(result) => Ok(result),
        Outcome::Err(error) => Err(describe(jvm, &error)),
        Outcome::Panic(payload) => std::panic::resume_unwind(payload),
    }
}

/// The error as text, with the class of the Java exception that caused it. The exception is cleared.
fn describe(jvm: Jvm<'_>, error: &Error) -> String {
    match jvm.local.take_exception_class() {
        Some(class) => match jvm.jvmti.class_signature(&class) {
            Ok(signature) => format!("{} was thrown", display_name(&signature)),
            Err(_) => error.to_string(),
        },
        None => error.to_string(),
    }
}

/// Defines a class of counters in the bootstrap loader.
///
/// # Errors
///
/// The exception that the JVM threw.
pub(crate) fn define_counter_class(
    jvm: Jvm<'_>,
    name: &CStr,
    bytes: &[u8],
) -> std::result::Result<CountArray, String> {
    let name = JNIStr::from_cstr(name).ok_or("the name is not modified UTF-8")?;
    with_env(jvm, |env| {
        let class = env.define_class(Some(name), JClassLoader::null(), bytes)?;
        Ok(CountArray(env.new_global_ref(&class)?))
    })
}

/// Copies the first `buffer.len()` counters.
///
/// # Errors
///
/// The exception that the JVM threw.
pub(crate) fn read_counters(
    jvm: Jvm<'_>,
    array: &CountArray,
    buffer: &mut [i64],
) -> std::result::Result<(), String> {
    with_env(jvm, |env| counters(env, array)?.get_region(env, 0, buffer))
}

/// Sets the first `count` counters to zero.
///
/// # Errors
///
/// The exception that the JVM threw.
pub(crate) fn zero_counters(
    jvm: Jvm<'_>,
    array: &CountArray,
    count: usize,
) -> std::result::Result<(), String> {
    let zeros = vec![0; count];
    with_env(jvm, |env| counters(env, array)?.set_region(env, 0, &zeros))
}

fn counters<'local>(env: &mut Env<'local>, array: &CountArray) -> Result<JLongArray<'local>> {
    let counts = env
        .get_static_field(&array.0, jni_str!("counts"), jni_sig!("[J"))?
        .l()?;
    env.cast_local::<JLongArray<'_>>(counts)
}

/// Binds the native methods of the first probe class. Returns false if the JVM does not find them yet: it searches an
/// agent's library only after `Agent_OnAttach` has returned.
///
/// Each method is called, so that it is bound: at the first call the JVM searches it in Java code, which may be traced
/// itself. `RegisterNatives` would bind it too, but prints a warning for a class of `java.base`.
pub(crate) fn bind_natives(jvm: Jvm<'_>) -> bool {
    natives::unrecorded(jvm.local, || with_env(jvm, call_natives).is_ok())
}

fn call_natives(env: &mut Env<'_>) -> Result<()> {
    let class = jni_str!("java/lang/$Classhook");
    let (int, long) = (JValue::Int(0), JValue::Long(0));
    let none = JObject::null();
    let none = JValue::Object(&none);
    let calls = [
        (jni_str!("enter0"), jni_sig!("(IJ)V"), &[int, long][..]),
        (jni_str!("exit0"), jni_sig!("(IJ)V"), &[int, long]),
        (jni_str!("event0"), jni_sig!("(IJ)V"), &[int, long]),
        (
            jni_str!("begin0"),
            jni_sig!("(Ljava/lang/Object;IJ)V"),
            &[none, int, long],
        ),
        (
            jni_str!("proceed0"),
            jni_sig!("(Ljava/lang/Object;IJ)V"),
            &[none, int, long],
        ),
        (
            jni_str!("finish0"),
            jni_sig!("(Ljava/lang/Object;IJ)V"),
            &[none, int, long],
        ),
        (
            jni_str!("resumed0"),
            jni_sig!("(Ljava/lang/Object;Ljava/lang/Object;IJ)V"),
            &[none, none, int, long],
        ),
        (
            jni_str!("fail0"),
            jni_sig!("(Ljava/lang/Throwable;IJ)V"),
            &[none, int, long],
        ),
        (
            jni_str!("number0"),
            jni_sig!("(JIIJ)V"),
            &[long, int, int, long],
        ),
        (
            jni_str!("object0"),
            jni_sig!("(Ljava/lang/Object;IIJ)V"),
            &[none, int, int, long],
        ),
    ];
    for (name, signature, arguments) in calls {
        env.call_static_method(class, name, signature, arguments)?;
    }
    Ok(())
}

/// The built-in class loaders.
///
/// # Errors
///
/// The exception that the JVM threw.
pub(crate) fn builtin_loaders(jvm: Jvm<'_>) -> std::result::Result<BuiltinLoaders, String> {
    let class = jni_str!("java/lang/ClassLoader");
    let found = with_env(jvm, |env| {
        let gives_loader = || jni_sig!("()Ljava/lang/ClassLoader;");
        let name = jni_str!("getSystemClassLoader");
        let system = env.call_static_method(class, name, gives_loader(), &[])?;
        let system = system.l()?;
        let name = jni_str!("getPlatformClassLoader");
        let platform = match env.call_static_method(class, name, gives_loader(), &[]) {
            Err(Error::MethodNotFound { .. }) => topmost(env, &system)?,
            found => found?.l()?,
        };
        let globalize = |loader: JObject<'_>| {
            let loader = jvm.local.borrow(loader.as_raw())?;
            jvm.local.globalize(&loader)
        };
        Ok(globalize(system).zip(globalize(platform)))
    })?;
    let (system, platform) = found.ok_or("no memory for a reference")?;
    Ok(BuiltinLoaders { system, platform })
}

/// The last loader before the bootstrap loader in the chain of a loader's parents.
fn topmost<'a>(env: &mut Env<'a>, loader: &JObject<'_>) -> Result<JObject<'a>> {
    let mut topmost = env.new_local_ref(loader)?;
    loop {
        let gives_loader = jni_sig!("()Ljava/lang/ClassLoader;");
        let parent = env.call_method(&topmost, jni_str!("getParent"), gives_loader, &[])?;
        let parent = parent.l()?;
        if parent.is_null() {
            return Ok(topmost);
        }
        topmost = parent;
    }
}

/// The used bytes of the heap, and its size in bytes (`Runtime.totalMemory`).
///
/// # Errors
///
/// The exception that the JVM threw.
pub(crate) fn heap(jvm: Jvm<'_>) -> std::result::Result<(u64, u64), String> {
    with_env(jvm, |env| {
        let class = jni_str!("java/lang/Runtime");
        let signature = jni_sig!("()Ljava/lang/Runtime;");
        let runtime = env.call_static_method(class, jni_str!("getRuntime"), signature, &[])?;
        let runtime = runtime.l()?;
        let total = env.call_method(&runtime, jni_str!("totalMemory"), jni_sig!("()J"), &[])?;
        let free = env.call_method(&runtime, jni_str!("freeMemory"), jni_sig!("()J"), &[])?;
        let (total, free) = (total.j()?, free.j()?);
        Ok((
            total.saturating_sub(free).cast_unsigned(),
            total.cast_unsigned(),
        ))
    })
}

/// Creates a `java.lang.Thread` object of this name, not started.
///
/// # Errors
///
/// The exception that the JVM threw.
pub(crate) fn new_thread(jvm: Jvm<'_>, name: &str) -> std::result::Result<GlobalRef, String> {
    with_env(jvm, |env| {
        let name = JString::new(env, name)?;
        let arguments = [JValue::from(&name)];
        let signature = jni_sig!("(Ljava/lang/String;)V");
        let thread = env.new_object(jni_str!("java/lang/Thread"), signature, &arguments)?;
        let local = jvm.local;
        Ok(local
            .borrow(thread.as_raw())
            .and_then(|thread| local.globalize(&thread)))
    })?
    .ok_or_else(|| "no memory for a reference".to_owned())
}

/// Links a class (JVMS 5.4) without initialising it: it calls a function of reflection, which requires a linked class.
///
/// # Errors
///
/// The exception that the JVM threw.
pub(crate) fn link(jvm: Jvm<'_>, class: &LocalRef<'_>) -> std::result::Result<(), String> {
    with_env(jvm, |env| {
        // SAFETY: the reference lives longer than this frame and is not deleted by `jni`.
        let class = unsafe { JObject::from_raw(env, class.as_raw()) };
        let name = jni_str!("getDeclaredConstructors");
        let signature = jni_sig!("()[Ljava/lang/reflect/Constructor;");
        env.call_method(&class, name, signature, &[])?;
        Ok(())
    })
}

/// The class file that `loader` (`None`: the bootstrap loader) finds for a class, by its internal name; `Ok(None)` if
/// it finds none.
///
/// # Errors
///
/// The exception of the JVM or the loader.
pub(crate) fn class_resource(
    jvm: Jvm<'_>,
    loader: Option<&LocalRef<'_>>,
    name: &[u8],
) -> std::result::Result<Option<Vec<u8>>, String> {
    let path = format!("{}.class", decode(name));
    with_env(jvm, |env| {
        let path = JString::new(env, path)?;
        let arguments = [JValue::from(&path)];
        let signature = jni_sig!("(Ljava/lang/String;)Ljava/io/InputStream;");
        let stream = match loader {
            Some(loader) => {
                // SAFETY: the reference lives longer than this frame and is not deleted by `jni`.
                let loader = unsafe { JObject::from_raw(env, loader.as_raw()) };
                env.call_method(
                    &loader,
                    jni_str!("getResourceAsStream"),
                    signature,
                    &arguments,
                )?
            }
            None => env.call_static_method(
                jni_str!("java/lang/ClassLoader"),
                jni_str!("getSystemResourceAsStream"),
                signature,
                &arguments,
            )?,
        };
        read_all(env, &stream.l()?)
    })
}

/// Reads and closes an `InputStream`; `None` for a null stream.
fn read_all(env: &mut Env<'_>, stream: &JObject<'_>) -> Result<Option<Vec<u8>>> {
    if stream.is_null() {
        return Ok(None);
    }
    let all = env.call_method(stream, jni_str!("readAllBytes"), jni_sig!("()[B"), &[]);
    let bytes = match all {
        Err(Error::MethodNotFound { .. }) => read_in_parts(env, stream), // JDK 8
        all => {
            let bytes = all?.l()?;
            let bytes = env.cast_local::<JByteArray<'_>>(bytes)?;
            env.convert_byte_array(&bytes)
        }
    }?;
    env.call_method(stream, jni_str!("close"), jni_sig!("()V"), &[])?;
    Ok(Some(bytes))
}

/// Reads an `InputStream` that has no method to read all bytes.
fn read_in_parts(env: &mut Env<'_>, stream: &JObject<'_>) -> Result<Vec<u8>> {
    let buffer = env.new_byte_array(PART)?;
    let mut bytes = Vec::new();
    loop {
        let arguments = [JValue::from(&buffer)];
        let read = env.call_method(stream, jni_str!("read"), jni_sig!("([B)I"), &arguments)?;
        let Ok(count) = usize::try_from(read.i()?) else {
            return Ok(bytes); // the end
        };
        let part = env.convert_byte_array(&buffer)?;
        bytes.extend_from_slice(part.get(..count).unwrap_or_default());
    }
}

/// Passes the result of `Class.getProtectionDomain()` to `body`.
///
/// # Errors
///
/// The exception that the JVM threw.
pub(crate) fn with_protection_domain<R>(
    jvm: Jvm<'_>,
    class: &LocalRef<'_>,
    body: impl FnOnce(Option<LocalRef<'_>>) -> R,
) -> std::result::Result<R, String> {
    with_env(jvm, |env| {
        // SAFETY: the reference lives longer than this frame and is not deleted by `jni`.
        let class = unsafe { JObject::from_raw(env, class.as_raw()) };
        let signature = jni_sig!("()Ljava/security/ProtectionDomain;");
        let domain = env
            .call_method(&class, jni_str!("getProtectionDomain"), signature, &[])?
            .l()?;
        Ok(body(jvm.local.borrow(domain.as_raw())))
    })
}

/// The location of a class: that of its code source, else `jrt:/` and the name of its module; `None` if neither is
/// known.
///
/// # Errors
///
/// The exception of the JVM, or of a URL handler.
pub(crate) fn location(
    jvm: Jvm<'_>,
    class: &LocalRef<'_>,
) -> std::result::Result<Option<String>, String> {
    with_env(jvm, |env| {
        // SAFETY: the reference lives longer than this frame and is not deleted by `jni`.
        let class = unsafe { JObject::from_raw(env, class.as_raw()) };
        let signature = jni_sig!("()Ljava/security/ProtectionDomain;");
        let domain = env.call_method(&class, jni_str!("getProtectionDomain"), signature, &[]);
        if let Some(location) = code_location(env, &domain?.l()?)? {
            return Ok(Some(location));
        }
        let signature = jni_sig!("()Ljava/lang/Module;");
        let module = match env.call_method(&class, jni_str!("getModule"), signature, &[]) {
            Err(Error::MethodNotFound { .. }) => return Ok(None), // JDK 8
            module => module?.l()?,
        };
        let signature = jni_sig!("()Ljava/lang/String;");
        let name = env.call_method(&module, jni_str!("getName"), signature, &[])?;
        let name = string(env, name.l()?)?;
        Ok(name.map(|name| format!("jrt:/{name}")))
    })
}

fn code_location(env: &mut Env<'_>, domain: &JObject<'_>) -> Result<Option<String>> {
    if domain.is_null() {
        return Ok(None);
    }
    let signature = jni_sig!("()Ljava/security/CodeSource;");
    let source = env.call_method(domain, jni_str!("getCodeSource"), signature, &[])?;
    let source = source.l()?;
    if source.is_null() {
        return Ok(None);
    }
    let signature = jni_sig!("()Ljava/net/URL;");
    let url = env.call_method(&source, jni_str!("getLocation"), signature, &[])?;
    let url = url.l()?;
    if url.is_null() {
        return Ok(None);
    }
    let signature = jni_sig!("()Ljava/lang/String;");
    let text = env.call_method(&url, jni_str!("toExternalForm"), signature, &[])?;
    string(env, text.l()?)
}

/// The text of a `String`, unless it is null.
fn string(env: &mut Env<'_>, string: JObject<'_>) -> Result<Option<String>> {
    if string.is_null() {
        return Ok(None);
    }
    let string = env.cast_local::<JString<'_>>(string)?;
    string.try_to_string(env).map(Some)
}

/// The text of a reference to a `String`.
///
/// # Errors
///
/// The exception that the JVM threw.
pub(crate) fn text(jvm: Jvm<'_>, text: &LocalRef<'_>) -> std::result::Result<String, String> {
    with_env(jvm, |env| {
        // SAFETY: the reference lives longer than this frame and is not deleted by `jni`.
        let text = unsafe { JObject::from_raw(env, text.as_raw()) };
        string(env, text)
    })
    .map(Option::unwrap_or_default)
}
