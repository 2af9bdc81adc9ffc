//! Class files from plugins: replacements and helper classes.

use super::cases::Expected::{Fails, Fine};
use super::cases::Row;

/// Replacement class files; a rejected one is reported to the plugin.
pub const CLASS_FILES: [Row; 12] = [
    (
        "class file that is text",
        "local.get 1 i32.const 1024 i32.const 64 i32.const 256 call replace DONE",
        Fine,
    ),
    (
        "class file of nothing",
        "local.get 1 i32.const 0 i32.const 0 i32.const 256 call replace DONE",
        Fine,
    ),
    (
        "class file of all memory",
        "local.get 1 i32.const 0 i32.const 2097152 i32.const 256 call replace DONE",
        Fine,
    ),
    (
        "class file beyond memory",
        "local.get 1 i32.const 1024 i32.const 2097152 i32.const 256 call replace",
        Fails("H0311", "out of bounds"),
    ),
    (
        "class file without end",
        "local.get 1 i32.const 1024 i32.const -1 i32.const 256 call replace",
        Fails("H0311", "out of bounds"),
    ),
    (
        "class file for a class",
        "local.get 0 i32.const 1024 i32.const 64 i32.const 256 call replace",
        Fails("H0311", "handle"),
    ),
    (
        "class file of a plan",
        "local.get 1 i32.const 256 call bytes",
        Fails("H0311", "handle"),
    ),
    (
        "class file that is cut",
        "local.get 0 i32.const 256 call bytes \
         local.get 1 i32.const 256 i32.load i32.const 260 i32.load i32.const 1 i32.sub i32.const 256 call replace DONE",
        Fine,
    ),
    (
        "class file that goes on",
        "local.get 0 i32.const 256 call bytes \
         local.get 1 i32.const 256 i32.load i32.const 260 i32.load i32.const 1 i32.add i32.const 256 call replace DONE",
        Fine,
    ),
    (
        // Its version becomes 0.
        "class file of a version that there is not",
        "local.get 0 i32.const 256 call bytes i32.const 256 i32.load i32.const 4 i32.add i32.const 0 i32.store \
         local.get 1 i32.const 256 i32.load i32.const 260 i32.load i32.const 256 call replace DONE",
        Fine,
    ),
    (
        // The first class leaves its file behind.
        "class file of the class before",
        "global.get 0 if local.get 1 i32.const 65536 global.get 0 i32.const 256 call replace else \
         local.get 0 i32.const 256 call bytes i32.const 260 i32.load global.set 0 end DONE",
        Fine,
    ),
    (
        "class file as it was, twice",
        "local.get 0 i32.const 256 call bytes i32.const 256 i32.load local.set 2 i32.const 260 i32.load local.set 3 \
         local.get 1 local.get 2 local.get 3 i32.const 256 call replace local.get 1 local.get 2 local.get 3 i32.const 256 call replace DONE",
        Fine,
    ),
];

/// Helper classes: by default, a list of one class of 64 bytes at 1024.
pub const HELPERS: [Row; 12] = [
    (
        "helper class that is text",
        "i32.const 4096 i32.const 1024 i32.store i32.const 4100 i32.const 64 i32.store \
         local.get 1 i32.const 4096 i32.const 1 i32.const 256 call define DONE",
        Fine,
    ),
    (
        "no helper class",
        "local.get 1 i32.const 0 i32.const 0 i32.const 256 call define DONE",
        Fine,
    ),
    (
        "helper class of nothing",
        "local.get 1 i32.const 8192 i32.const 1 i32.const 256 call define DONE",
        Fine,
    ),
    (
        "helper class of all memory",
        "i32.const 4100 i32.const 2097152 i32.store \
         local.get 1 i32.const 4096 i32.const 1 i32.const 256 call define DONE",
        Fine,
    ),
    (
        "helper class outside of memory",
        "i32.const 4096 i32.const -8 i32.store i32.const 4100 i32.const 64 i32.store \
         local.get 1 i32.const 4096 i32.const 1 i32.const 256 call define",
        Fails("H0311", "out of bounds"),
    ),
    (
        "helper class without end",
        "i32.const 4100 i32.const -1 i32.store \
         local.get 1 i32.const 4096 i32.const 1 i32.const 256 call define",
        Fails("H0311", "out of bounds"),
    ),
    (
        "helper classes without end",
        "local.get 1 i32.const 4096 i32.const -1 i32.const 256 call define",
        Fails("H0311", "out of bounds"),
    ),
    (
        "helper classes at an odd address",
        "local.get 1 i32.const 4097 i32.const 1 i32.const 256 call define",
        Fails("H0311", "not aligned"),
    ),
    (
        // The same mebibyte a thousand times.
        "helper classes that are one another",
        "loop i32.const 8196 local.get 2 i32.const 8 i32.mul i32.add i32.const 1048576 i32.store \
         local.get 2 i32.const 1 i32.add local.tee 2 i32.const 1000 i32.lt_u br_if 0 end \
         local.get 1 i32.const 8192 i32.const 1000 i32.const 256 call define",
        Fails("H0313", "64 MiB at once"),
    ),
    (
        "helper classes for a class",
        "local.get 0 i32.const 4096 i32.const 1 i32.const 256 call define",
        Fails("H0311", "handle"),
    ),
    (
        "class as its own helper class",
        "local.get 0 i32.const 256 call bytes \
         local.get 1 i32.const 256 i32.const 1 i32.const 512 call define DONE",
        Fine,
    ),
    (
        "helper class that is cut",
        "local.get 0 i32.const 256 call bytes i32.const 260 i32.const 260 i32.load i32.const 1 i32.sub i32.store \
         local.get 1 i32.const 256 i32.const 1 i32.const 512 call define DONE",
        Fine,
    ),
];
