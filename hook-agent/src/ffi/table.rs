//! The JVM TI function table, callbacks and capabilities: numbers from the specification (JVM TI 19, function index and
//! event index), types from `jni-sys`.
//!
//! Only the functions that the agent calls are typed; every other slot is opaque. Errors, phases and modes are plain
//! integers, because a newer JVM may use values that are not listed here.

pub(crate) use jvm_events::jvmti::*;

use jni_sys::{JNIEnv, jboolean, jclass, jfieldID, jint, jmethodID, jobject};
use std::ffi::{c_char, c_uchar, c_void};

/// The target of a `jvmtiEnv*`: its first word is the function table.
pub(crate) type JvmtiEnv = *const JvmtiInterface;

/// A slot of the table that the agent does not call.
type Slot = *const c_void;

/// `jvmtiStartFunction`: the body of an agent thread.
pub(crate) type StartFunction =
    unsafe extern "system" fn(jvmti: *mut JvmtiEnv, jni: *mut JNIEnv, arg: *mut c_void);

/// `jvmtiThreadInfo`.
#[repr(C)]
pub(crate) struct ThreadInfo {
    pub name: *mut c_char,
    pub priority: jint,
    pub is_daemon: u8,
    pub thread_group: jobject,
    pub context_class_loader: jobject,
}

/// `jvmtiFrameInfo`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameInfo {
    pub method: jmethodID,
    /// A bci; -1 in a native method.
    pub location: i64,
}

/// `jvmtiStackInfo`.
#[repr(C)]
pub(crate) struct StackInfo {
    pub thread: jobject,
    pub state: jint,
    pub frame_buffer: *mut FrameInfo,
    pub frame_count: jint,
}

/// `jvmtiLineNumberEntry`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineNumberEntry {
    pub start_location: i64,
    pub line_number: jint,
}

/// The function table, slot numbers from 1 (`_n_m` holds the slots n to m).
#[repr(C)]
pub(crate) struct JvmtiInterface {
    _1: Slot,
    /// 2; C-variadic.
    pub SetEventNotificationMode:
        Option<unsafe extern "C" fn(*mut JvmtiEnv, jint, jint, jobject, ...) -> jint>,
    _3: Slot,
    /// 4
    pub GetAllThreads:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, *mut jint, *mut *mut jobject) -> jint>,
    _5_8: [Slot; 4],
    /// 9
    pub GetThreadInfo:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jobject, *mut ThreadInfo) -> jint>,
    /// 10
    pub GetOwnedMonitorInfo: Option<
        unsafe extern "system" fn(*mut JvmtiEnv, jobject, *mut jint, *mut *mut jobject) -> jint,
    >,
    /// 11
    pub GetCurrentContendedMonitor:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jobject, *mut jobject) -> jint>,
    /// 12
    pub RunAgentThread: Option<
        unsafe extern "system" fn(
            *mut JvmtiEnv,
            jobject,
            StartFunction,
            *const c_void,
            jint,
        ) -> jint,
    >,
    _13_15: [Slot; 3],
    /// 16
    pub GetFrameCount: Option<unsafe extern "system" fn(*mut JvmtiEnv, jobject, *mut jint) -> jint>,
    /// 17
    pub GetThreadState:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jobject, *mut jint) -> jint>,
    /// 18
    pub GetCurrentThread: Option<unsafe extern "system" fn(*mut JvmtiEnv, *mut jobject) -> jint>,
    _19_44: [Slot; 26],
    /// 45
    pub IsModifiableClass:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jclass, *mut u8) -> jint>,
    /// 46
    pub Allocate: Option<unsafe extern "system" fn(*mut JvmtiEnv, i64, *mut *mut c_uchar) -> jint>,
    /// 47
    pub Deallocate: Option<unsafe extern "system" fn(*mut JvmtiEnv, *mut c_uchar) -> jint>,
    /// 48
    pub GetClassSignature: Option<
        unsafe extern "system" fn(
            *mut JvmtiEnv,
            jclass,
            *mut *mut c_char,
            *mut *mut c_char,
        ) -> jint,
    >,
    /// 49
    pub GetClassStatus: Option<unsafe extern "system" fn(*mut JvmtiEnv, jclass, *mut jint) -> jint>,
    /// 50
    pub GetSourceFileName:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jclass, *mut *mut c_char) -> jint>,
    /// 51
    pub GetClassModifiers:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jclass, *mut jint) -> jint>,
    /// 52
    pub GetClassMethods: Option<
        unsafe extern "system" fn(*mut JvmtiEnv, jclass, *mut jint, *mut *mut jmethodID) -> jint,
    >,
    /// 53
    pub GetClassFields: Option<
        unsafe extern "system" fn(*mut JvmtiEnv, jclass, *mut jint, *mut *mut jfieldID) -> jint,
    >,
    /// 54
    pub GetImplementedInterfaces: Option<
        unsafe extern "system" fn(*mut JvmtiEnv, jclass, *mut jint, *mut *mut jclass) -> jint,
    >,
    _55_56: [Slot; 2],
    /// 57
    pub GetClassLoader:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jclass, *mut jobject) -> jint>,
    /// 58
    pub GetObjectHashCode:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jobject, *mut jint) -> jint>,
    /// 59
    pub GetObjectMonitorUsage:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jobject, *mut MonitorUsage) -> jint>,
    /// 60
    pub GetFieldName: Option<
        unsafe extern "system" fn(
            *mut JvmtiEnv,
            jclass,
            jfieldID,
            *mut *mut c_char,
            *mut *mut c_char,
            *mut *mut c_char,
        ) -> jint,
    >,
    _61: Slot,
    /// 62
    pub GetFieldModifiers:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jclass, jfieldID, *mut jint) -> jint>,
    _63: Slot,
    /// 64
    pub GetMethodName: Option<
        unsafe extern "system" fn(
            *mut JvmtiEnv,
            jmethodID,
            *mut *mut c_char,
            *mut *mut c_char,
            *mut *mut c_char,
        ) -> jint,
    >,
    /// 65
    pub GetMethodDeclaringClass:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jmethodID, *mut jclass) -> jint>,
    /// 66
    pub GetMethodModifiers:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jmethodID, *mut jint) -> jint>,
    _67_69: [Slot; 3],
    /// 70
    pub GetLineNumberTable: Option<
        unsafe extern "system" fn(
            *mut JvmtiEnv,
            jmethodID,
            *mut jint,
            *mut *mut LineNumberEntry,
        ) -> jint,
    >,
    _71_72: [Slot; 2],
    /// 73
    pub SetNativeMethodPrefix:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, *const c_char) -> jint>,
    _74: Slot,
    /// 75
    pub GetBytecodes: Option<
        unsafe extern "system" fn(*mut JvmtiEnv, jmethodID, *mut jint, *mut *mut c_uchar) -> jint,
    >,
    _76_77: [Slot; 2],
    /// 78
    pub GetLoadedClasses:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, *mut jint, *mut *mut jclass) -> jint>,
    _79_90: [Slot; 12],
    /// 91
    pub IsMethodObsolete:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jmethodID, *mut u8) -> jint>,
    _92_99: [Slot; 8],
    /// 100
    pub GetAllStackTraces: Option<
        unsafe extern "system" fn(*mut JvmtiEnv, jint, *mut *mut StackInfo, *mut jint) -> jint,
    >,
    /// 101
    pub GetThreadListStackTraces: Option<
        unsafe extern "system" fn(
            *mut JvmtiEnv,
            jint,
            *const jobject,
            jint,
            *mut *mut StackInfo,
        ) -> jint,
    >,
    _102_103: [Slot; 2],
    /// 104
    pub GetStackTrace: Option<
        unsafe extern "system" fn(
            *mut JvmtiEnv,
            jobject,
            jint,
            jint,
            *mut FrameInfo,
            *mut jint,
        ) -> jint,
    >,
    _105: Slot,
    /// 106
    pub GetTag: Option<unsafe extern "system" fn(*mut JvmtiEnv, jobject, *mut i64) -> jint>,
    /// 107
    pub SetTag: Option<unsafe extern "system" fn(*mut JvmtiEnv, jobject, i64) -> jint>,
    /// 108
    pub ForceGarbageCollection: Option<unsafe extern "system" fn(*mut JvmtiEnv) -> jint>,
    _109_113: [Slot; 5],
    /// 114
    pub GetObjectsWithTags: Option<
        unsafe extern "system" fn(
            *mut JvmtiEnv,
            jint,
            *const i64,
            *mut jint,
            *mut *mut jobject,
            *mut *mut i64,
        ) -> jint,
    >,
    /// 115
    pub FollowReferences: Option<
        unsafe extern "system" fn(
            *mut JvmtiEnv,
            jint,
            jclass,
            jobject,
            *const HeapCallbacks,
            *const c_void,
        ) -> jint,
    >,
    /// 116
    pub IterateThroughHeap: Option<
        unsafe extern "system" fn(
            *mut JvmtiEnv,
            jint,
            jclass,
            *const HeapCallbacks,
            *const c_void,
        ) -> jint,
    >,
    _117_119: [Slot; 3],
    /// 120
    pub SetJNIFunctionTable:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, *const JniFunction) -> jint>,
    /// 121
    pub GetJNIFunctionTable:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, *mut *mut JniFunction) -> jint>,
    /// 122
    pub SetEventCallbacks:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, *const EventCallbacks, jint) -> jint>,
    /// 123
    pub GenerateEvents: Option<unsafe extern "system" fn(*mut JvmtiEnv, jint) -> jint>,
    /// 124
    pub GetExtensionFunctions: Option<
        unsafe extern "system" fn(
            *mut JvmtiEnv,
            *mut jint,
            *mut *mut ExtensionFunctionInfo,
        ) -> jint,
    >,
    /// 125
    pub GetExtensionEvents: Option<
        unsafe extern "system" fn(*mut JvmtiEnv, *mut jint, *mut *mut ExtensionEventInfo) -> jint,
    >,
    /// 126
    pub SetExtensionEventCallback:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jint, Option<ExtensionEvent>) -> jint>,
    /// 127
    pub DisposeEnvironment: Option<unsafe extern "system" fn(*mut JvmtiEnv) -> jint>,
    _128_129: [Slot; 2],
    /// 130
    pub GetSystemProperties:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, *mut jint, *mut *mut *mut c_char) -> jint>,
    /// 131
    pub GetSystemProperty:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, *const c_char, *mut *mut c_char) -> jint>,
    _132_136: [Slot; 5],
    /// 137
    pub GetThreadCpuTime:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jobject, *mut i64) -> jint>,
    _138_139: [Slot; 2],
    /// 140
    pub GetPotentialCapabilities:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, *mut Capabilities) -> jint>,
    _141: Slot,
    /// 142
    pub AddCapabilities:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, *const Capabilities) -> jint>,
    _143_145: [Slot; 3],
    /// 146
    pub GetConstantPool: Option<
        unsafe extern "system" fn(
            *mut JvmtiEnv,
            jclass,
            *mut jint,
            *mut jint,
            *mut *mut c_uchar,
        ) -> jint,
    >,
    _147_151: [Slot; 5],
    /// 152
    pub RetransformClasses:
        Option<unsafe extern "system" fn(*mut JvmtiEnv, jint, *const jclass) -> jint>,
    _153_155: [Slot; 3],
    /// 156; absent before JVM TI 11, whose JVMs do not offer its capability.
    pub SetHeapSamplingInterval: Option<unsafe extern "system" fn(*mut JvmtiEnv, jint) -> jint>,
}

/// An entry of JNI's function table (`jniNativeInterface`), which has one for each function.
pub(crate) type JniFunction = *const c_void;

/// `jvmtiExtensionFunction`.
pub(crate) type ExtensionFunction = unsafe extern "C" fn(*mut JvmtiEnv, ...) -> jint;

/// `jvmtiParamInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ParamInfo {
    pub name: *mut c_char,
    pub kind: jint,
    pub base_type: jint,
    pub null_ok: u8,
}

/// `jvmtiExtensionFunctionInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ExtensionFunctionInfo {
    pub func: Option<ExtensionFunction>,
    pub id: *mut c_char,
    pub short_description: *mut c_char,
    pub param_count: jint,
    pub params: *mut ParamInfo,
    pub error_count: jint,
    pub errors: *mut jint,
}

/// `jvmtiExtensionEvent`, which is C-variadic in the header. The installed callbacks take the arguments that the event
/// declares.
pub(crate) type ExtensionEvent =
    unsafe extern "C" fn(jvmti: *mut JvmtiEnv, jni: *mut JNIEnv, passed: *mut c_void);

/// `jvmtiExtensionEventInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ExtensionEventInfo {
    pub extension_event_index: jint,
    pub id: *mut c_char,
    pub short_description: *mut c_char,
    pub param_count: jint,
    pub params: *mut ParamInfo,
}

/// `JVMTI_TYPE_JTHREAD` of `jvmtiParamTypes`.
pub(crate) const TYPE_JTHREAD: jint = 110;
/// `JVMTI_TYPE_CCHAR` of `jvmtiParamTypes`.
pub(crate) const TYPE_CCHAR: jint = 115;

/// `jvmtiMonitorUsage`.
#[repr(C)]
pub(crate) struct MonitorUsage {
    pub owner: jobject,
    pub entry_count: jint,
    pub waiter_count: jint,
    pub waiters: *mut jobject,
    pub notify_waiter_count: jint,
    pub notify_waiters: *mut jobject,
}

/// `jvmtiHeapIterationCallback`.
pub(crate) type HeapIteration = unsafe extern "system" fn(
    class_tag: i64,
    size: i64,
    tag: *mut i64,
    length: jint,
    user_data: *mut c_void,
) -> jint;

/// `jvmtiHeapCallbacks`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct HeapCallbacks {
    pub heap_iteration_callback: Option<HeapIteration>,
    pub heap_reference_callback: Option<HeapReference>,
    pub _rest: [Option<unsafe extern "system" fn()>; 14],
}

/// `jvmtiHeapReferenceCallback`.
pub(crate) type HeapReference = unsafe extern "system" fn(
    reference_kind: jint,
    reference_info: *const c_void,
    class_tag: i64,
    referrer_class_tag: i64,
    size: i64,
    tag: *mut i64,
    referrer_tag: *mut i64,
    length: jint,
    user_data: *mut c_void,
) -> jint;

/// `JVMTI_HEAP_FILTER_UNTAGGED`.
pub(crate) const HEAP_FILTER_UNTAGGED: jint = 0x8;
/// `JVMTI_HEAP_FILTER_CLASS_UNTAGGED`.
pub(crate) const HEAP_FILTER_CLASS_UNTAGGED: jint = 0x20;

/// `jvmtiHeapReferenceInfoStackLocal`; that of a local reference of JNI ends after `method`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LocalReferenceInfo {
    pub thread_tag: i64,
    pub _thread_id: i64,
    pub _depth: jint,
    pub method: jmethodID,
    pub location: i64,
    pub slot: jint,
}

/// `jvmtiEventClassFileLoadHook`.
pub(crate) type ClassFileLoadHook = unsafe extern "system" fn(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    class_being_redefined: jclass,
    loader: jobject,
    name: *const c_char,
    protection_domain: jobject,
    class_data_len: jint,
    class_data: *const c_uchar,
    new_class_data_len: *mut jint,
    new_class_data: *mut *mut c_uchar,
);
/// `jvmtiEventVMInit`.
pub(crate) type VmInit =
    unsafe extern "system" fn(jvmti: *mut JvmtiEnv, jni: *mut JNIEnv, thread: jobject);
/// `jvmtiEventVMDeath`.
pub(crate) type VmDeath = unsafe extern "system" fn(jvmti: *mut JvmtiEnv, jni: *mut JNIEnv);
/// `jvmtiEventClassPrepare`.
pub(crate) type ClassPrepare = unsafe extern "system" fn(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    class: jclass,
);
/// `jvmtiEventDataDumpRequest`.
pub(crate) type DataDumpRequest = unsafe extern "system" fn(jvmti: *mut JvmtiEnv);

/// `jvmtiEventCallbacks`: one pointer per event number, from 50 on.
#[repr(C)]
#[derive(Default)]
pub(crate) struct EventCallbacks {
    /// 50
    pub VMInit: Option<VmInit>,
    /// 51
    pub VMDeath: Option<VmDeath>,
    pub _52_53: [Option<unsafe extern "system" fn()>; 2],
    /// 54
    pub ClassFileLoadHook: Option<ClassFileLoadHook>,
    pub _55: Option<unsafe extern "system" fn()>,
    /// 56
    pub ClassPrepare: Option<ClassPrepare>,
    pub _57_70: [Option<unsafe extern "system" fn()>; 14],
    /// 71
    pub DataDumpRequest: Option<DataDumpRequest>,
}

/// `jvmtiEventException`.
pub(crate) type Exception = unsafe extern "system" fn(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    method: jmethodID,
    location: i64,
    exception: jobject,
    catch_method: jmethodID,
    catch_location: i64,
);
/// `jvmtiEventExceptionCatch`.
pub(crate) type ExceptionCatch = unsafe extern "system" fn(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    method: jmethodID,
    location: i64,
    exception: jobject,
);
/// `jvmtiEventObjectFree`.
pub(crate) type ObjectFree = unsafe extern "system" fn(jvmti: *mut JvmtiEnv, tag: i64);
/// `jvmtiEventMonitorWait`.
pub(crate) type MonitorWait = unsafe extern "system" fn(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    object: jobject,
    timeout: i64,
);
/// `jvmtiEventMonitorWaited`.
pub(crate) type MonitorWaited = unsafe extern "system" fn(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    object: jobject,
    timed_out: u8,
);
/// `jvmtiEventMonitorContendedEnter` and `…Entered`.
pub(crate) type MonitorContended = unsafe extern "system" fn(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    object: jobject,
);
/// `jvmtiEventGarbageCollectionStart` and `…Finish`.
pub(crate) type GarbageCollection = unsafe extern "system" fn(jvmti: *mut JvmtiEnv);
/// `jvmtiEventSampledObjectAlloc`.
pub(crate) type SampledObjectAlloc = unsafe extern "system" fn(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    object: jobject,
    class: jclass,
    size: i64,
);

/// `jvmtiEventThreadStart`, `…ThreadEnd`, `…VirtualThreadStart` and `…VirtualThreadEnd`.
pub(crate) type ThreadStartEnd =
    unsafe extern "system" fn(jvmti: *mut JvmtiEnv, jni: *mut JNIEnv, thread: jobject);
/// `jvmtiEventNativeMethodBind`.
pub(crate) type NativeMethodBind = unsafe extern "system" fn(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    method: jmethodID,
    address: *mut c_void,
    new_address: *mut *mut c_void,
);
/// `jvmtiEventCompiledMethodLoad`.
pub(crate) type CompiledMethodLoad = unsafe extern "system" fn(
    jvmti: *mut JvmtiEnv,
    method: jmethodID,
    code_size: jint,
    code: *const c_void,
    map_length: jint,
    map: *const c_void,
    compile_info: *const c_void,
);
/// `jvmtiEventCompiledMethodUnload`.
pub(crate) type CompiledMethodUnload =
    unsafe extern "system" fn(jvmti: *mut JvmtiEnv, method: jmethodID, code: *const c_void);
/// `jvmtiEventDynamicCodeGenerated`.
pub(crate) type DynamicCodeGenerated = unsafe extern "system" fn(
    jvmti: *mut JvmtiEnv,
    name: *const c_char,
    address: *const c_void,
    length: jint,
);
/// `jvmtiEventResourceExhausted`.
pub(crate) type ResourceExhausted = unsafe extern "system" fn(
    jvmti: *mut JvmtiEnv,
    jni: *mut JNIEnv,
    flags: jint,
    reserved: *const c_void,
    description: *const c_char,
);

/// `jvmtiEventCallbacks` of a subscriber's environment, without the events of [`EventCallbacks`].
#[repr(C)]
#[derive(Default)]
pub(crate) struct SubscriberCallbacks {
    pub _50_51: [Option<unsafe extern "system" fn()>; 2],
    /// 52
    pub ThreadStart: Option<ThreadStartEnd>,
    /// 53
    pub ThreadEnd: Option<ThreadStartEnd>,
    pub _54_55: [Option<unsafe extern "system" fn()>; 2],
    /// 56
    pub ClassPrepare: Option<ClassPrepare>,
    pub _57: Option<unsafe extern "system" fn()>,
    /// 58
    pub Exception: Option<Exception>,
    /// 59
    pub ExceptionCatch: Option<ExceptionCatch>,
    pub _60_66: [Option<unsafe extern "system" fn()>; 7],
    /// 67
    pub NativeMethodBind: Option<NativeMethodBind>,
    /// 68
    pub CompiledMethodLoad: Option<CompiledMethodLoad>,
    /// 69
    pub CompiledMethodUnload: Option<CompiledMethodUnload>,
    /// 70
    pub DynamicCodeGenerated: Option<DynamicCodeGenerated>,
    /// 71
    pub DataDumpRequest: Option<DataDumpRequest>,
    pub _72: Option<unsafe extern "system" fn()>,
    /// 73
    pub MonitorWait: Option<MonitorWait>,
    /// 74
    pub MonitorWaited: Option<MonitorWaited>,
    /// 75
    pub MonitorContendedEnter: Option<MonitorContended>,
    /// 76
    pub MonitorContendedEntered: Option<MonitorContended>,
    pub _77_79: [Option<unsafe extern "system" fn()>; 3],
    /// 80
    pub ResourceExhausted: Option<ResourceExhausted>,
    /// 81
    pub GarbageCollectionStart: Option<GarbageCollection>,
    /// 82
    pub GarbageCollectionFinish: Option<GarbageCollection>,
    /// 83
    pub ObjectFree: Option<ObjectFree>,
    pub _84_85: [Option<unsafe extern "system" fn()>; 2],
    /// 86
    pub SampledObjectAlloc: Option<SampledObjectAlloc>,
    /// 87; from JDK 21 on.
    pub VirtualThreadStart: Option<ThreadStartEnd>,
    /// 88
    pub VirtualThreadEnd: Option<ThreadStartEnd>,
}

/// `JVMTI_ENABLE` of `jvmtiEventMode`.
pub(crate) const ENABLE: jint = 1;
/// `JVMTI_DISABLE` of `jvmtiEventMode`.
pub(crate) const DISABLE: jint = 0;

/// `jvmtiCapabilities`: 128 bits, numbered from the least significant one.
#[repr(C, align(4))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capabilities([u32; 4]);

impl Capabilities {
    /// Exactly this capability.
    pub const fn only(capability: Capability) -> Self {
        let bit = capability.bit;
        let mut words = [0; 4];
        words[(bit / 32) as usize] = 1 << (bit % 32);
        Self(words)
    }

    /// Checks whether this set contains every capability of `other`.
    pub fn contains(&self, other: &Self) -> bool {
        self.0
            .iter()
            .zip(other.0)
            .all(|(mine, theirs)| mine & theirs == theirs)
    }
}

/// `JVMTI_CLASS_STATUS_PREPARED`.
pub(crate) const CLASS_STATUS_PREPARED: jint = 2;
/// `JVMTI_CLASS_STATUS_INITIALIZED`.
pub(crate) const CLASS_STATUS_INITIALIZED: jint = 4;
/// `JVMTI_CLASS_STATUS_ERROR`.
pub(crate) const CLASS_STATUS_ERROR: jint = 8;
/// `JVMTI_CLASS_STATUS_ARRAY`.
pub(crate) const CLASS_STATUS_ARRAY: jint = 16;
/// `JVMTI_CLASS_STATUS_PRIMITIVE`.
pub(crate) const CLASS_STATUS_PRIMITIVE: jint = 32;
/// The requested interface versions, in this order: JVM TI 11, and 1.2, which JDK 8 has.
pub(crate) const JVMTI_VERSIONS: [jint; 2] = [0x300B_0000, 0x3001_0200];

/// Converts a C `jboolean`: a JVM's byte never becomes a Rust `bool` unchecked.
pub(crate) fn is_true(byte: u8) -> jboolean {
    byte != 0
}

#[cfg(test)]
mod tests;
