//! Compares the table with `jvmti.h` of every installed JDK.

use super::*;
use std::collections::HashMap;
use std::mem::{offset_of, size_of};
use std::path::PathBuf;

fn headers() -> Vec<(PathBuf, String)> {
    let mut roots: Vec<PathBuf> = std::env::var_os("JAVA_HOME")
        .map(PathBuf::from)
        .into_iter()
        .collect();
    for folder in [
        "/usr/lib/jvm",
        "/opt/java",
        "/Library/Java/JavaVirtualMachines",
    ] {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        roots.extend(entries.map(|entry| entry.path()));
    }
    let mut found: Vec<PathBuf> = roots
        .iter()
        .filter_map(|root| root.join("include/jvmti.h").canonicalize().ok())
        .collect();
    found.sort();
    found.dedup();
    found
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a readable header");
            (path, text)
        })
        .collect()
}

/// `/*  46 : Allocate */ … (JNICALL *Allocate)` → Allocate: 46.
fn slots(header: &str) -> HashMap<String, usize> {
    let table = header
        .split("typedef struct jvmtiInterface_1_ {")
        .nth(1)
        .expect("the table");
    let mut slots = HashMap::new();
    for part in table.split("/*").skip(1) {
        let Some((number, _)) = part.split_once(" :") else {
            continue;
        };
        let Ok(number) = number.trim().parse::<usize>() else {
            continue;
        };
        if let Some((_, rest)) = part.split_once("(JNICALL *") {
            let name = rest.split(')').next().expect("a name").to_owned();
            slots.insert(name, number);
        }
    }
    slots
}

/// Names of `JVMTI_EVENT_…` with their numbers, as in the header.
fn constants(header: &str, prefix: &str) -> HashMap<String, i64> {
    header
        .lines()
        .filter_map(|line| line.trim().trim_end_matches(',').split_once(" = "))
        .filter(|(name, _)| name.starts_with(prefix))
        .filter_map(|(name, value)| {
            let value = value.trim();
            let number = match value.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(hex, 16).ok()?,
                None => value.parse().ok()?,
            };
            Some((name.to_owned(), number))
        })
        .collect()
}

fn callback_positions(header: &str) -> HashMap<String, usize> {
    let start = header
        .find("jvmtiEventVMInit VMInit;")
        .expect("the callbacks");
    let end = header[start..]
        .find("} jvmtiEventCallbacks;")
        .expect("their end");
    header[start..start + end]
        .split(';')
        .filter_map(|line| line.split_whitespace().last())
        .enumerate()
        .map(|(index, name)| (name.to_owned(), index))
        .collect()
}

fn capability_bits(header: &str) -> HashMap<String, u32> {
    let start = header
        .find("unsigned int can_tag_objects : 1;")
        .expect("the capabilities");
    header[start..]
        .lines()
        .map_while(|line| line.trim().strip_prefix("unsigned int can_"))
        .zip(0..)
        .map(|(name, bit)| {
            (
                format!("can_{}", name.split(' ').next().expect("a name")),
                bit,
            )
        })
        .collect()
}

macro_rules! assert_slots {
    ($path:expr, $slots:expr, $($name:ident),+ $(,)?) => {$(
        assert_eq!(
            Some(&(offset_of!(JvmtiInterface, $name) / size_of::<Slot>() + 1)),
            $slots.get(stringify!($name)),
            "{} in {}", stringify!($name), $path.display(),
        );
    )+};
}

#[test]
fn function_slots_match_every_jvmti_header() {
    let headers = headers();
    assert!(
        !headers.is_empty(),
        "no jvmti.h found: install a JDK or set JAVA_HOME"
    );
    for (path, header) in headers {
        let slots = slots(&header);
        assert!(
            slots.len() > 140,
            "only {} functions read from {}",
            slots.len(),
            path.display()
        );
        assert_slots!(
            path,
            slots,
            SetEventNotificationMode,
            RunAgentThread,
            IsModifiableClass,
            Allocate,
            Deallocate,
            GetClassSignature,
            GetClassStatus,
            GetClassModifiers,
            GetConstantPool,
            GetClassFields,
            GetClassLoader,
            GetObjectHashCode,
            GetFieldName,
            GetFieldModifiers,
            GetAllThreads,
            GetClassMethods,
            GetMethodName,
            GetMethodDeclaringClass,
            GetMethodModifiers,
            GetLineNumberTable,
            IsMethodObsolete,
            GetLoadedClasses,
            GetStackTrace,
            GetAllStackTraces,
            GetThreadListStackTraces,
            GetSystemProperties,
            SetEventCallbacks,
            GenerateEvents,
            DisposeEnvironment,
            GetSystemProperty,
            GetPotentialCapabilities,
            AddCapabilities,
            RetransformClasses,
            GetSourceFileName,
            GetImplementedInterfaces,
            GetObjectsWithTags,
            GetExtensionFunctions,
            GetThreadState,
            FollowReferences,
            GetTag,
            SetTag,
            ForceGarbageCollection,
            IterateThroughHeap,
            GetThreadCpuTime,
            SetHeapSamplingInterval,
            GetOwnedMonitorInfo,
            GetCurrentContendedMonitor,
            GetObjectMonitorUsage,
            GetBytecodes,
            GetExtensionEvents,
            SetJNIFunctionTable,
            GetJNIFunctionTable,
            SetExtensionEventCallback,
        );
    }
    assert_eq!(size_of::<JvmtiInterface>(), 156 * size_of::<Slot>());
}

#[test]
fn callback_positions_and_event_numbers_match_every_jvmti_header() {
    for (path, header) in headers() {
        let positions = callback_positions(&header);
        let numbers = constants(&header, "JVMTI_EVENT_");
        let ours = [
            (
                "VMInit",
                offset_of!(EventCallbacks, VMInit),
                "JVMTI_EVENT_VM_INIT",
                Event::VM_INIT,
            ),
            (
                "VMDeath",
                offset_of!(EventCallbacks, VMDeath),
                "JVMTI_EVENT_VM_DEATH",
                Event::VM_DEATH,
            ),
            (
                "ClassFileLoadHook",
                offset_of!(EventCallbacks, ClassFileLoadHook),
                "JVMTI_EVENT_CLASS_FILE_LOAD_HOOK",
                Event::CLASS_FILE_LOAD_HOOK,
            ),
            (
                "DataDumpRequest",
                offset_of!(EventCallbacks, DataDumpRequest),
                "JVMTI_EVENT_DATA_DUMP_REQUEST",
                Event::DATA_DUMP_REQUEST,
            ),
        ];
        for (name, offset, constant, event) in ours.into_iter().chain(subscriber_events()) {
            if name.starts_with("Virtual") && !positions.contains_key(name) {
                continue; // before JDK 21
            }
            assert_eq!(
                Some(&(offset / size_of::<Slot>())),
                positions.get(name),
                "{name} in {}",
                path.display()
            );
            assert_eq!(
                Some(&i64::from(event.0)),
                numbers.get(constant),
                "{constant} in {}",
                path.display()
            );
        }
    }
}

/// The events of a subscriber's environment.
fn subscriber_events() -> impl Iterator<Item = (&'static str, usize, &'static str, Event)> {
    macro_rules! event {
        ($name:ident, $event:ident) => {
            (
                stringify!($name),
                offset_of!(SubscriberCallbacks, $name),
                concat!("JVMTI_EVENT_", stringify!($event)),
                Event::$event,
            )
        };
    }
    [
        event!(ThreadStart, THREAD_START),
        event!(ThreadEnd, THREAD_END),
        event!(ClassPrepare, CLASS_PREPARE),
        event!(NativeMethodBind, NATIVE_METHOD_BIND),
        event!(CompiledMethodLoad, COMPILED_METHOD_LOAD),
        event!(CompiledMethodUnload, COMPILED_METHOD_UNLOAD),
        event!(DynamicCodeGenerated, DYNAMIC_CODE_GENERATED),
        event!(ResourceExhausted, RESOURCE_EXHAUSTED),
        event!(VirtualThreadStart, VIRTUAL_THREAD_START),
        event!(VirtualThreadEnd, VIRTUAL_THREAD_END),
        event!(Exception, EXCEPTION),
        event!(ExceptionCatch, EXCEPTION_CATCH),
        event!(DataDumpRequest, DATA_DUMP_REQUEST),
        event!(ObjectFree, OBJECT_FREE),
        event!(MonitorWait, MONITOR_WAIT),
        event!(MonitorWaited, MONITOR_WAITED),
        event!(MonitorContendedEnter, MONITOR_CONTENDED_ENTER),
        event!(MonitorContendedEntered, MONITOR_CONTENDED_ENTERED),
        event!(GarbageCollectionStart, GARBAGE_COLLECTION_START),
        event!(GarbageCollectionFinish, GARBAGE_COLLECTION_FINISH),
        event!(SampledObjectAlloc, SAMPLED_OBJECT_ALLOC),
    ]
    .into_iter()
}

/// The JVM must not be called in the middle of a garbage collection. So the environment that changes classes has no
/// callback for events that are sent then, nor for freed objects, whichever events are enabled. Subscribers'
/// environments have them, and only count.
#[test]
fn no_callback_is_called_within_a_garbage_collection() {
    let ours = size_of::<EventCallbacks>() / size_of::<Slot>();
    for (path, header) in headers() {
        let positions = callback_positions(&header);
        for name in [
            "GarbageCollectionStart",
            "GarbageCollectionFinish",
            "ObjectFree",
        ] {
            let position = positions.get(name).expect("an event of the header");
            assert!(*position >= ours, "{name} in {}", path.display());
        }
    }
}

#[test]
fn capability_bits_and_constants_match_every_jvmti_header() {
    for (path, header) in headers() {
        let bits = capability_bits(&header);
        assert!(
            bits.len() > 40,
            "only {} capabilities read from {}",
            bits.len(),
            path.display()
        );
        for Capability { bit, name } in CAPABILITIES {
            let has_none = *name == "can_support_virtual_threads" && !bits.contains_key(*name);
            assert!(has_none || bits.get(*name) == Some(bit), "{name}"); // from JDK 21 on
        }
        let numbers = constants(&header, "JVMTI_EVENT_");
        for (name, event) in Event::ALL {
            let has_none = name.contains("VIRTUAL_THREAD") && !numbers.contains_key(*name);
            assert!(
                has_none || numbers.get(*name) == Some(&i64::from(event.0)),
                "{name}"
            );
        }
        let status = constants(&header, "JVMTI_CLASS_STATUS_");
        assert_eq!(
            status["JVMTI_CLASS_STATUS_PREPARED"],
            i64::from(CLASS_STATUS_PREPARED)
        );
        assert_eq!(
            status["JVMTI_CLASS_STATUS_ARRAY"],
            i64::from(CLASS_STATUS_ARRAY)
        );
        assert_eq!(
            status["JVMTI_CLASS_STATUS_PRIMITIVE"],
            i64::from(CLASS_STATUS_PRIMITIVE)
        );
        let modes = constants(&header, "JVMTI_ENABLE");
        assert_eq!(modes["JVMTI_ENABLE"], i64::from(ENABLE));
        for (name, number) in constants(&header, "JVMTI_ERROR_") {
            let error = super::super::error::JvmtiError(i32::try_from(number).expect("an i32"));
            if !["JVMTI_ERROR_MAX", "JVMTI_ERROR_NONE"].contains(&name.as_str()) {
                assert!(
                    error.to_string().starts_with(&name),
                    "{number} is {name}, not {error}"
                );
            }
        }
    }
}

#[test]
fn capabilities_are_single_bits() {
    let set = Capabilities::only(CAN_RETRANSFORM_CLASSES);
    assert_eq!(set.0, [0, 1 << 5, 0, 0]);
    assert!(set.contains(&set));
    assert!(!Capabilities::default().contains(&set));
}
