//! What the attributes of code are, by the pool indices of their names.

use crate::index::PoolIndex;
use crate::pool::ConstantPool;

/// What an attribute of `Code` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeTable {
    /// `StackMapTable`.
    Frames,
    Lines,
    /// Local variables by their types or signatures.
    Variables,
    TypeAnnotations,
    /// `StackMap` of CLDC.
    CldcFrames,
    CharacterRanges,
    /// Nobody knows, perhaps bcis.
    Unknown,
}

impl CodeTable {
    fn named(name: &[u8]) -> Self {
        match name {
            b"StackMapTable" => CodeTable::Frames,
            b"LineNumberTable" => CodeTable::Lines,
            b"LocalVariableTable" | b"LocalVariableTypeTable" => CodeTable::Variables,
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                CodeTable::TypeAnnotations
            }
            b"StackMap" => CodeTable::CldcFrames,
            b"CharacterRangeTable" => CodeTable::CharacterRanges,
            _ => CodeTable::Unknown,
        }
    }
}

/// More names than attributes of code can have, so that looking through them ends.
const MOST_NAMES: usize = 8;

/// The names that attributes had so far in one class: most methods have the same.
#[derive(Debug, Default)]
pub(crate) struct CodeTables {
    names: Vec<(PoolIndex, CodeTable)>,
}

impl CodeTables {
    /// Forgets the names, for another class.
    pub(crate) fn clear(&mut self) {
        self.names.clear();
    }

    /// What an attribute of this name holds.
    #[inline]
    pub(crate) fn of(&mut self, name: PoolIndex, pool: &ConstantPool<'_>) -> CodeTable {
        let known = self.names.iter().find(|(known, _)| *known == name);
        match known {
            Some((_, table)) => *table,
            None => self.read(name, pool),
        }
    }

    #[inline(never)]
    fn read(&mut self, name: PoolIndex, pool: &ConstantPool<'_>) -> CodeTable {
        let text = pool.utf8(name).unwrap_or_default();
        let table = CodeTable::named(text.as_bytes());
        if self.names.len() < MOST_NAMES {
            self.names.push((name, table));
        }
        table
    }
}
