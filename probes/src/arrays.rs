//! The JVM's shared probe arrays: how long they are and how many there may be.

/// Elements (bytes) of one shared array: the most that `sipush` reaches (JVMS 6.5, `sipush`).
pub const ARRAY_LENGTH: usize = 32_768;

/// The most arrays that one JVM may have: 4,096 arrays are 128 MiB of Java heap and 134 million probes.
pub const MAX_ARRAYS: u16 = 4_096;

/// Arrays that are defined ahead of need, so that threads that load many classes at once find room.
pub const ARRAYS_AHEAD: u16 = 4;
