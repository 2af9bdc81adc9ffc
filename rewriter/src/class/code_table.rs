//! Kinds of code attributes, by the pool indices of their names.

use crate::index::PoolIndex;
use crate::pool::ConstantPool;

/// The contents of an attribute of `Code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeTable {
    /// `StackMapTable`.
    Frames,
    Lines,
    /// Local variables with types or signatures.
    Variables,
    TypeAnnotations,
    /// `StackMap` of CLDC.
    CldcFrames,
    CharacterRanges,
    /// Unknown contents, perhaps with bcis.
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

/// More names than attributes of code can have; bounds the lookup.
const MOST_NAMES: usize = 8;

/// The attribute names met so far in one class: most methods use the same ones.
#[derive(Debug, Default)]
pub(crate) struct CodeTables {
    names: Vec<(PoolIndex, CodeTable)>,
}

impl CodeTables {
    /// Clears the names for another class.
    pub(crate) fn clear(&mut self) {
        self.names.clear();
    }

    /// Returns the contents of an attribute with this name.
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
