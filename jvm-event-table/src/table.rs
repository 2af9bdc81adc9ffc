//! The table itself.

/// Passes the table of events to a macro.
///
/// A row of `kinds` is a kind of event: its name in Rust, and the function of the WIT interface `jvm-events` that
/// subscribes to it, which also names its grant.
///
/// * `text` completes *Subscribes to …* and *observes …*; `details` are further sentences, or empty;
/// * `events` are those of JVM TI, and `optional` those that a JVM may refuse;
/// * `capabilities` are those of JVM TI that the events need;
/// * `filter` are the numbers of a filter that the kind uses besides `frames`;
/// * `types` are its types of events. Each has its number, its fields with the index of their value, and the values
///   that are ids of a method or a text.
///
/// Rows of `recordings` are kinds that only recordings have, and rows of `answers` are types of events in answers to
/// requests. Numbers and functions are part of the interface of plugins: they never change.
#[macro_export]
#[doc(hidden)]
macro_rules! jvm_event_table {
    ($($consumer:tt)+) => {
        $($consumer)+! {
            kinds {
                /// Threads that used CPU time.
                Samples samples {
                    text: "threads that used CPU time since the previous sample, with stacks",
                    details: "",
                    events: [THREAD_START, THREAD_END], optional: [],
                    capabilities: [CAN_TAG_OBJECTS, CAN_GET_THREAD_CPU_TIME],
                    filter: [Every],
                    types: {
                        /// The thread used CPU time.
                        1 Sample {
                            /// The CPU time in nanoseconds.
                            cpu: u64 = 0
                        } [];
                    }
                }
                /// Sampled allocations.
                Allocations allocations {
                    text: "sampled allocations: class, bytes, and the bytes that the sample represents",
                    details: "They need JDK 11 or newer.",
                    events: [SAMPLED_OBJECT_ALLOC], optional: [],
                    capabilities: [CAN_TAG_OBJECTS, CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS],
                    filter: [Every],
                    types: {
                        /// An object of the class was allocated.
                        2 Allocation {
                            /// The size in bytes.
                            bytes: u64 = 0,
                            /// The number of bytes that the sample represents.
                            stands_for: u64 = 1
                        } [];
                    }
                }
                /// Waits for monitors.
                Monitors monitors {
                    text: "waits to enter a monitor, and calls of `Object.wait`: class and time",
                    details: "The monitor of a class, which a `static synchronized` method takes, is of `java.lang.Class<com.acme.Cache>`. Filters may name either.",
                    events: [
                        MONITOR_CONTENDED_ENTER, MONITOR_CONTENDED_ENTERED, MONITOR_WAIT, MONITOR_WAITED
                    ], optional: [],
                    capabilities: [CAN_TAG_OBJECTS, CAN_GENERATE_MONITOR_EVENTS],
                    filter: [AtLeast],
                    types: {
                        /// A monitor of an object of the class was entered after a wait.
                        3 Entered {
                            /// The duration of the wait, in nanoseconds.
                            nanos: u64 = 0
                        } [];
                        /// `Object.wait` of an object of the class has ended.
                        4 Waited {
                            /// The duration of the wait, in nanoseconds.
                            nanos: u64 = 0
                        } [];
                    }
                }
                /// Exceptions that are thrown.
                Exceptions exceptions {
                    text: "thrown exceptions, with the method and line that catch each",
                    details: "They need a JVM that was started with the agent.",
                    events: [EXCEPTION], optional: [],
                    capabilities: [CAN_GENERATE_EXCEPTION_EVENTS],
                    filter: [],
                    types: {
                        /// An exception of the class was thrown; the method catches it.
                        5 Exception {
                            /// The line of the handler, or 0 if unknown.
                            line: u32 = 1
                        } [Method 0];
                    }
                }
                /// Garbage collections.
                Collections collections {
                    text: "garbage collections that stopped the program: time, and bytes in use afterwards",
                    details: "",
                    events: [GARBAGE_COLLECTION_START, GARBAGE_COLLECTION_FINISH], optional: [],
                    capabilities: [CAN_GENERATE_GARBAGE_COLLECTION_EVENTS],
                    filter: [AtLeast],
                    types: {
                        /// A garbage collection.
                        6 Collection {
                            /// The duration of the collection, in nanoseconds.
                            nanos: u64 = 0,
                            /// The bytes in use after the collection, or 0 if unknown.
                            used: u64 = 1
                        } [];
                    }
                }
                /// Threads that start and end.
                Threads threads {
                    text: "threads that start and end, virtual ones as well",
                    details: "",
                    events: [THREAD_START, THREAD_END], optional: [VIRTUAL_THREAD_START, VIRTUAL_THREAD_END],
                    capabilities: [],
                    filter: [],
                    types: {
                        /// The thread has started.
                        7 ThreadStarted {
                            /// `true` for a virtual thread.
                            is_virtual: bool = 0
                        } [];
                        /// The thread is about to end.
                        8 ThreadEnded {
                            /// `true` for a virtual thread.
                            is_virtual: bool = 0
                        } [];
                    }
                }
                /// Classes that are prepared.
                Classes classes {
                    text: "classes that are prepared (JVMS 5.4.2)",
                    details: "",
                    events: [CLASS_PREPARE], optional: [],
                    capabilities: [],
                    filter: [],
                    types: {
                        /// The class was prepared.
                        9 ClassPrepared [];
                    }
                }
                /// Machine code of methods.
                Compilations compilations {
                    text: "methods whose machine code is installed or discarded",
                    details: "Code that exists comes first.",
                    events: [COMPILED_METHOD_LOAD, COMPILED_METHOD_UNLOAD], optional: [],
                    capabilities: [CAN_GENERATE_COMPILED_METHOD_LOAD_EVENTS],
                    filter: [],
                    types: {
                        /// Machine code of the method was installed.
                        10 CodeMade {
                            /// The size in bytes.
                            bytes: u64 = 1
                        } [Method 0];
                        /// Machine code of the method was unloaded.
                        11 CodeGone [Method 0];
                    }
                }
                /// Native methods that are bound.
                Natives natives {
                    text: "native methods that are bound to their code",
                    details: "",
                    events: [NATIVE_METHOD_BIND], optional: [],
                    capabilities: [CAN_GENERATE_NATIVE_METHOD_BIND_EVENTS],
                    filter: [],
                    types: {
                        /// The native method was bound.
                        12 NativeBound [Method 0];
                    }
                }
                /// Memory or threads that the JVM could not provide.
                Exhaustion exhaustion {
                    text: "exhausted memory or threads",
                    details: "The thread goes on once the agent has written its files, after half a second at most. It does not wait if that happened within the second before.",
                    events: [RESOURCE_EXHAUSTED], optional: [],
                    capabilities: [
                        CAN_GENERATE_RESOURCE_EXHAUSTION_HEAP_EVENTS,
                        CAN_GENERATE_RESOURCE_EXHAUSTION_THREADS_EVENTS
                    ],
                    filter: [],
                    types: {
                        /// The JVM ran out of memory or threads; the text is its description.
                        13 Exhausted {
                            /// The flags of JVM TI's event `ResourceExhausted`.
                            flags: u64 = 0
                        } [Text 1];
                    }
                }
                /// Exceptions that are caught.
                Catches catches {
                    text: "caught exceptions: class, method and line",
                    details: "`finally` catches, too. They need a JVM that was started with the agent.",
                    events: [EXCEPTION_CATCH], optional: [],
                    capabilities: [CAN_GENERATE_EXCEPTION_EVENTS],
                    filter: [],
                    types: {
                        /// An exception of the class was caught; the method caught it.
                        15 Caught {
                            /// The line of the handler, or 0 if unknown.
                            line: u32 = 1
                        } [Method 0];
                    }
                }
                /// Classes that are unloaded.
                Unloads unloads {
                    text: "unloaded classes, by name",
                    details: "They are an event of HotSpot's own, on JDK 17 and newer.",
                    events: [], optional: [],
                    capabilities: [],
                    filter: [],
                    types: {
                        /// The class was unloaded.
                        17 ClassUnloaded [];
                    }
                }
                /// Objects that were freed.
                Frees frees {
                    text: "the numbers of freed objects of each class, among the sampled ones",
                    details: "",
                    events: [SAMPLED_OBJECT_ALLOC, OBJECT_FREE], optional: [],
                    capabilities: [
                        CAN_TAG_OBJECTS, CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS, CAN_GENERATE_OBJECT_FREE_EVENTS
                    ],
                    filter: [Every],
                    types: {
                        /// Sampled objects of the class were freed.
                        14 Freed {
                            /// The number of freed objects.
                            count: u64 = 0
                        } [];
                    }
                }
                /// Requests for a dump of the data.
                Dumps dumps {
                    text: "requests for a dump (SIGQUIT)",
                    details: "",
                    events: [DATA_DUMP_REQUEST], optional: [],
                    capabilities: [],
                    filter: [],
                    types: {
                        /// A dump of the data was requested.
                        16 DumpAsked [];
                    }
                }
                /// Code that the JVM generates besides methods.
                Stubs stubs {
                    text: "code that the JVM generates besides methods, such as stubs: name and bytes",
                    details: "Code that exists comes first.",
                    events: [DYNAMIC_CODE_GENERATED], optional: [],
                    capabilities: [],
                    filter: [],
                    types: {
                        /// The JVM generated code; the text is its name.
                        18 StubGenerated {
                            /// The size in bytes.
                            bytes: u64 = 0
                        } [Text 1];
                    }
                }
            }
            recordings {
                /// Global references of JNI.
                References references { events: [], capabilities: [CAN_TAG_OBJECTS] }
                /// Threads in any state, sampled by the wall clock.
                WallClock wall { events: [THREAD_START, THREAD_END], capabilities: [CAN_TAG_OBJECTS] }
            }
            answers {
                /// The state of a thread at one moment, with its stack.
                20 Thread {
                    /// The bits of JVM TI's `GetThreadState`.
                    state: u32 = 0
                } [];
                /// The CPU time of a thread.
                21 CpuTime {
                    /// The CPU time since the thread's start, in nanoseconds.
                    nanos: u64 = 0
                } [];
                /// The objects of the class.
                22 Objects {
                    /// The number of objects.
                    count: u64 = 0,
                    /// The size of the objects in bytes.
                    bytes: u64 = 1
                } [];
                /// A system property: its name and its value.
                23 Property [Text 0, Text 1];
                /// The end of an answer.
                24 Answered {
                    /// The number of the type of event in the answer.
                    of: u16 = 0,
                    /// The number of events in the answer.
                    events: u64 = 1
                } [];
                /// The thread owns a monitor of an object of the class.
                25 Owns {
                    /// The number of the monitor within the answer.
                    monitor: u64 = 0,
                    /// The number of times that the owner has entered the monitor.
                    entered: u64 = 1
                } [];
                /// The thread waits to enter a monitor.
                26 WaitsToEnter {
                    /// The number of the monitor within the answer.
                    monitor: u64 = 0
                } [];
                /// The thread waits in `Object.wait` for a monitor.
                27 WaitsFor {
                    /// The number of the monitor within the answer.
                    monitor: u64 = 0
                } [];
                /// A reference path holds instances of the class; the text is the path, with one step per line.
                28 Held {
                    /// The number of held instances.
                    instances: u64 = 0
                } [Text 1];
            }
        }
    };
}
