//! Events and capabilities of JVM TI: numbers and names from the specification (JVM TI 21, event index, and
//! `jvmtiCapabilities`).

/// An event, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event(pub i32);

/// A capability, by its bit and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    /// The number of the bit, from the least significant one.
    pub bit: u32,
    /// The name in `jvmtiCapabilities`.
    pub name: &'static str,
}

macro_rules! events {
    ($($number:literal $name:ident)+) => {
        impl Event {
            $(
                #[doc = concat!("`JVMTI_EVENT_", stringify!($name), "`.")]
                pub const $name: Self = Self($number);
            )+

            /// The events, with their names in `jvmti.h`.
            pub const ALL: &[(&str, Self)] = &[$((concat!("JVMTI_EVENT_", stringify!($name)), Self($number))),+];
        }
    };
}

events! {
    50 VM_INIT
    51 VM_DEATH
    52 THREAD_START
    53 THREAD_END
    54 CLASS_FILE_LOAD_HOOK
    55 CLASS_LOAD
    56 CLASS_PREPARE
    58 EXCEPTION
    59 EXCEPTION_CATCH
    67 NATIVE_METHOD_BIND
    68 COMPILED_METHOD_LOAD
    69 COMPILED_METHOD_UNLOAD
    70 DYNAMIC_CODE_GENERATED
    71 DATA_DUMP_REQUEST
    73 MONITOR_WAIT
    74 MONITOR_WAITED
    75 MONITOR_CONTENDED_ENTER
    76 MONITOR_CONTENDED_ENTERED
    80 RESOURCE_EXHAUSTED
    81 GARBAGE_COLLECTION_START
    82 GARBAGE_COLLECTION_FINISH
    83 OBJECT_FREE
    84 VM_OBJECT_ALLOC
    86 SAMPLED_OBJECT_ALLOC
    87 VIRTUAL_THREAD_START
    88 VIRTUAL_THREAD_END
}

impl Event {
    /// The events that JVM TI's `GenerateEvents` sends again for the code that exists.
    pub const REPEATABLE: [Self; 2] = [Self::COMPILED_METHOD_LOAD, Self::DYNAMIC_CODE_GENERATED];
}

macro_rules! capabilities {
    ($($bit:literal $constant:ident $name:literal)+) => {
        $(
            #[doc = concat!("`", $name, "`, bit ", stringify!($bit), ".")]
            pub const $constant: Capability = Capability { bit: $bit, name: $name };
        )+

        /// The capabilities.
        pub const CAPABILITIES: &[Capability] = &[$($constant),+];
    };
}

capabilities! {
    0 CAN_TAG_OBJECTS "can_tag_objects"
    3 CAN_GET_BYTECODES "can_get_bytecodes"
    5 CAN_GET_OWNED_MONITOR_INFO "can_get_owned_monitor_info"
    6 CAN_GET_CURRENT_CONTENDED_MONITOR "can_get_current_contended_monitor"
    7 CAN_GET_MONITOR_INFO "can_get_monitor_info"
    11 CAN_GET_SOURCE_FILE_NAME "can_get_source_file_name"
    12 CAN_GET_LINE_NUMBERS "can_get_line_numbers"
    17 CAN_GENERATE_EXCEPTION_EVENTS "can_generate_exception_events"
    23 CAN_GET_THREAD_CPU_TIME "can_get_thread_cpu_time"
    27 CAN_GENERATE_COMPILED_METHOD_LOAD_EVENTS "can_generate_compiled_method_load_events"
    28 CAN_GENERATE_MONITOR_EVENTS "can_generate_monitor_events"
    29 CAN_GENERATE_VM_OBJECT_ALLOC_EVENTS "can_generate_vm_object_alloc_events"
    30 CAN_GENERATE_NATIVE_METHOD_BIND_EVENTS "can_generate_native_method_bind_events"
    31 CAN_GENERATE_GARBAGE_COLLECTION_EVENTS "can_generate_garbage_collection_events"
    32 CAN_GENERATE_OBJECT_FREE_EVENTS "can_generate_object_free_events"
    35 CAN_GET_CONSTANT_POOL "can_get_constant_pool"
    36 CAN_SET_NATIVE_METHOD_PREFIX "can_set_native_method_prefix"
    37 CAN_RETRANSFORM_CLASSES "can_retransform_classes"
    39 CAN_GENERATE_RESOURCE_EXHAUSTION_HEAP_EVENTS "can_generate_resource_exhaustion_heap_events"
    40 CAN_GENERATE_RESOURCE_EXHAUSTION_THREADS_EVENTS "can_generate_resource_exhaustion_threads_events"
    43 CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS "can_generate_sampled_object_alloc_events"
    44 CAN_SUPPORT_VIRTUAL_THREADS "can_support_virtual_threads"
}
