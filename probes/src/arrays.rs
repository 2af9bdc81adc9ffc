//! The JVM's shared probe arrays: how long they are and how many there may be.

/// Elements (bytes) of one shared array: the most that two bytes tell apart. A class with more probes has none.
pub const ARRAY_LENGTH: usize = 65_536;

/// Elements at the front of an array that most classes share: the most that `sipush` reaches (JVMS 6.5, `sipush`). A
/// class with more probes has them behind these, too, where the code of a hit takes one byte more.
pub const NEAR_LENGTH: usize = 32_768;

/// Elements of one array of counters.
pub const COUNTS_LENGTH: usize = 32_768;

/// The most arrays that one JVM may have: 4,096 arrays are 256 MiB of Java heap and at least 134 million probes.
pub const MAX_ARRAYS: u16 = 4_096;

/// Arrays that are defined ahead of need, so that threads that load many classes at once find room.
pub const ARRAYS_AHEAD: u16 = 4;
