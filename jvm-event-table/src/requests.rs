//! Requests of plugins to the JVM: the functions of the WIT interface `jvm-requests`, each with a grant.

/// A function that makes a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestFunction {
    /// The name of the function.
    pub name: &'static str,
    /// The grant that a plugin needs.
    pub grant: &'static str,
    /// The effect of the grant: *reads the system properties*.
    pub text: &'static str,
}

macro_rules! requests {
    ($($constant:ident $name:literal $text:literal)+) => {
        $(
            #[doc = concat!("`", $name, "`: ", $text, ".")]
            pub const $constant: RequestFunction = RequestFunction {
                name: $name,
                grant: concat!("jvm-requests.", $name),
                text: $text,
            };
        )+

        /// All functions.
        pub const ALL: [RequestFunction; [$($name),+].len()] = [$($constant),+];
        /// Their grants.
        pub const GRANTS: [&str; ALL.len()] = [$($constant.grant),+];
    };
}

requests! {
    THREADS "threads" "reads the stacks and states of all threads"
    CPU_TIMES "cpu-times" "reads the CPU time of all threads"
    HISTOGRAM "histogram" "counts objects and bytes of each class"
    PROPERTIES "properties" "reads the system properties"
    STACK "stack" "reads the stacks of single threads"
    MONITORS "monitors" "reads owners and waiters of monitors"
    PATHS "paths" "finds reference paths to the instances of a class"
    MONITOR_USAGE "monitor-usage" "reads owners and waiters of the monitors of a class's instances"
}
