//! The JVM's shared probe arrays: their length and maximum number.

/// Elements (bytes) of one shared array, the most that a u16 index addresses. A class with more probes gets none.
pub const ARRAY_LENGTH: usize = 65_536;

/// Elements at the front of an array that most classes share, the most that `sipush` reaches (JVMS 6.5, `sipush`). A
/// class with more probes extends beyond them, where the code of a hit takes one more byte.
pub const NEAR_LENGTH: usize = 32_768;

/// Number of elements of one array of counters.
pub const COUNTS_LENGTH: usize = 32_768;

/// The maximum number of arrays in one JVM: 4,096 arrays are 256 MiB of Java heap and at least 134 million probes.
pub const MAX_ARRAYS: u16 = 4_096;

/// Number of arrays defined ahead of need, so that threads that load many classes at once find room.
pub const ARRAYS_AHEAD: u16 = 4;
