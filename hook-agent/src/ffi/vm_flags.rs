//! Flags of HotSpot at run time, found through the tables that `libjvm.so` exports for the serviceability tools.
//!
//! The tables describe fields of HotSpot's classes by name (`vmStructs.hpp` in OpenJDK). Each entry has the class, the
//! field, and its offset or, for a static field, its address. The layout of an entry is exported too. This module reads
//! the list of flags, `JVMFlag::flags`, in which each flag has its name and the address of its value. In HotSpot 8 the
//! class is named `Flag`.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;

/// The library that exports the tables.
const LIBRARY: &CStr = c"libjvm.so";
/// Largest number of table entries that are read; HotSpot 25 has some 1,300.
const MAX_ENTRIES: usize = 100_000;
/// Largest number of flags that are read; HotSpot 25 has some 1,400.
const MAX_FLAGS: usize = 100_000;

/// A flag of HotSpot: a `bool`, a number or a string.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VmFlag {
    /// The address of its value: static memory of the library, which is never unloaded.
    address: usize,
}

/// All flags of the JVM.
pub(crate) struct VmFlags {
    first: Memory,
    count: usize,
    size: usize,
    name_at: usize,
    address_at: usize,
}

impl VmFlags {
    /// Finds the flags of this JVM. Returns `None` for a JVM without such tables.
    pub fn of_this_jvm() -> Option<Self> {
        let library = Library::open()?;
        let structs = library.table(
            c"gHotSpotVMStructs",
            c"gHotSpotVMStructEntryTypeNameOffset",
            c"gHotSpotVMStructEntryArrayStride",
        )?;
        let types = library.table(
            c"gHotSpotVMTypes",
            c"gHotSpotVMTypeEntryTypeNameOffset",
            c"gHotSpotVMTypeEntryArrayStride",
        )?;
        let field_name = library.number(c"gHotSpotVMStructEntryFieldNameOffset")?;
        let is_of_flag = |entry: &TableEntry| entry.is_of(c"JVMFlag") || entry.is_of(c"Flag");
        let fields: Vec<TableEntry> = structs.entries().filter(is_of_flag).collect();
        let field = |name: &CStr| {
            let mut fields = fields.iter();
            fields.find(|entry| entry.text(field_name) == Some(name))
        };
        let offset_at = library.number(c"gHotSpotVMStructEntryOffsetOffset")?;
        let address_at = library.number(c"gHotSpotVMStructEntryAddressOffset")?;
        let size_at = library.number(c"gHotSpotVMTypeEntrySizeOffset")?;
        let flag = types.entries().find(is_of_flag)?;
        Some(Self {
            first: field(c"flags")?.pointer(address_at)?.pointer(0)?,
            count: field(c"numFlags")?.pointer(address_at)?.number(0),
            size: flag.number(size_at),
            name_at: field(c"_name")?.number(offset_at),
            address_at: field(c"_addr")?.number(offset_at),
        })
    }

    /// Finds a flag by its name.
    pub fn find(&self, name: &CStr) -> Option<VmFlag> {
        let flags = 0..self.count.min(MAX_FLAGS);
        let flag = flags
            .map(|index| self.first.plus(index * self.size))
            .find(|flag| flag.text(self.name_at) == Some(name))?;
        let value = flag.pointer(self.address_at)?;
        Some(VmFlag {
            address: value.address as usize,
        })
    }
}

impl VmFlag {
    /// Finds the flag of this name. Returns `None` if the JVM exports no such tables, or has no such flag.
    pub fn find(name: &CStr) -> Option<Self> {
        VmFlags::of_this_jvm()?.find(name)
    }

    /// Its current value.
    pub fn get(self) -> bool {
        // SAFETY: the address is that of a `bool` in the library's static memory; HotSpot reads and writes it as a
        // byte.
        let value = unsafe { (self.address as *const u8).read_volatile() };
        value != 0
    }

    /// Its current value, for a number of 64 bits.
    pub fn number(self) -> usize {
        // SAFETY: the address is that of an `intx` in the library's static memory.
        unsafe { (self.address as *const usize).read_volatile() }
    }

    /// Reads the value of a string flag, if it is set.
    pub fn text(self) -> Option<&'static CStr> {
        Memory::at(self.address as *const u8)?.text(0)
    }

    /// Sets another value. HotSpot reads the value whenever it needs it.
    pub fn set(self, value: bool) {
        // SAFETY: as for `get`; a byte is written whole, and 0 and 1 are the values of a `bool`.
        unsafe { (self.address as *mut u8).write_volatile(value.into()) };
    }
}

/// `libjvm.so`, which stays loaded until the process ends.
struct Library {
    handle: *mut c_void,
}

impl Library {
    /// Opens it by its name. musl does not know a library that was loaded from a path by its name, so the path is the
    /// second choice.
    fn open() -> Option<Self> {
        Self::open_as(LIBRARY).or_else(|| Self::open_as(&mapped(LIBRARY.to_str().ok()?)?))
    }

    fn open_as(name: &CStr) -> Option<Self> {
        // SAFETY: the name is a C string; with RTLD_NOLOAD nothing is loaded and no initialiser runs.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        (!handle.is_null()).then(|| Self { handle })
    }

    fn symbol(&self, name: &CStr) -> Option<Memory> {
        // SAFETY: the handle is open and the name a C string.
        let found = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        Memory::at(found.cast_const().cast())
    }

    /// The value of an exported 64-bit number.
    fn number(&self, name: &CStr) -> Option<usize> {
        Some(self.symbol(name)?.number(0))
    }

    fn table(&self, table: &CStr, type_name: &CStr, stride: &CStr) -> Option<Table> {
        Some(Table {
            first: self.symbol(table)?.pointer(0)?,
            type_name: self.number(type_name)?,
            stride: self.number(stride)?,
        })
    }
}

/// The path of a file of this name that this process maps.
fn mapped(name: &str) -> Option<CString> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let paths = maps.lines().filter_map(|line| line.get(line.find('/')?..));
    let mut named = paths.filter(|path| Path::new(path).file_name() == Some(name.as_ref()));
    CString::new(named.next()?).ok()
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the handle is open; closing it releases the reference that opening took.
        unsafe { libc::dlclose(self.handle) };
    }
}

/// A table of entries. The entry after the last has a type without a name.
struct Table {
    first: Memory,
    type_name: usize,
    stride: usize,
}

impl Table {
    fn entries(&self) -> impl Iterator<Item = TableEntry> {
        let entry = |index: usize| TableEntry {
            memory: self.first.plus(index * self.stride),
            type_name: self.type_name,
        };
        (0..MAX_ENTRIES)
            .map(entry)
            .take_while(|entry| entry.memory.text(entry.type_name).is_some())
    }
}

struct TableEntry {
    memory: Memory,
    type_name: usize,
}

impl TableEntry {
    fn is_of(&self, name: &CStr) -> bool {
        self.memory.text(self.type_name) == Some(name)
    }
}

impl std::ops::Deref for TableEntry {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        &self.memory
    }
}

/// An address in the tables; never null. Offsets come from the tables themselves.
#[derive(Clone, Copy)]
struct Memory {
    address: *const u8,
}

impl Memory {
    fn at(address: *const u8) -> Option<Self> {
        (!address.is_null()).then_some(Self { address })
    }

    fn plus(self, bytes: usize) -> Self {
        Self {
            address: self.address.wrapping_add(bytes),
        }
    }

    fn number(self, offset: usize) -> usize {
        // SAFETY: by the tables this is a number of 64 bits, and it is constant once the JVM is live.
        unsafe { self.plus(offset).address.cast::<usize>().read_unaligned() }
    }

    fn pointer(self, offset: usize) -> Option<Self> {
        Self::at(self.number(offset) as *const u8)
    }

    fn text(self, offset: usize) -> Option<&'static CStr> {
        let text = self.pointer(offset)?.address;
        // SAFETY: by the tables this is a C string, a constant of the library, which is never unloaded.
        Some(unsafe { CStr::from_ptr(text.cast::<c_char>()) })
    }
}
