//! The strict fields of an object that a constructor has not assigned yet.

use std::collections::BTreeSet;

use crate::class::{Instruction, Method};
use crate::error::ReadError;
use crate::pool::{ConstantPool, PoolWriter};
use crate::stack_map::{UnsetFieldList, bad_frame};
use crate::typing::types::Type;
use jvms::opcode;

/// A field, by name and descriptor.
type Field<'t> = (&'t [u8], &'t [u8]);

/// The strict fields (`ACC_STRICT_INIT`, preview in JDK 28) that have no value yet in a constructor. It assigns all of
/// them before it calls `super()`. Other methods have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UnsetFields<'t> {
    left: BTreeSet<Field<'t>>,
    /// All strict fields of the class.
    strict: BTreeSet<Field<'t>>,
}

impl<'t> UnsetFields<'t> {
    /// Returns the fields at the entry of a method.
    pub(crate) fn at_entry(method: &Method<'_, 't>) -> Self {
        let class = method.class();
        if !method.is_constructor() || !class.has_strict_fields() {
            return Self::default();
        }
        let strict = class.fields().filter(|field| field.is_strict());
        let named = strict.map(|field| (field.name().as_bytes(), field.descriptor().as_bytes()));
        let strict: BTreeSet<Field<'t>> = named.collect();
        UnsetFields {
            left: strict.clone(),
            strict,
        }
    }

    /// Checks whether all strict fields have a value.
    pub(crate) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Checks whether each of these fields is also one of `others`.
    pub(crate) fn is_within(&self, others: &Self) -> bool {
        self.left.is_subset(&others.left)
    }

    /// Takes the fields that a frame at `bci` lists. A frame without a list has those of the frame before.
    ///
    /// # Errors
    /// If the method has no strict fields, or the list names another field.
    pub(crate) fn take_listed(
        &mut self,
        list: UnsetFieldList<'t>,
        pool: &ConstantPool<'t>,
        bci: u32,
    ) -> Result<(), ReadError> {
        let Some(indices) = list.indices() else {
            return Ok(());
        };
        let field = |index| {
            let (name, descriptor) = pool.name_and_type(index)?;
            let field = (name.as_bytes(), descriptor.as_bytes());
            self.strict.contains(&field).then_some(field)
        };
        let listed = indices.map(field).collect::<Option<BTreeSet<_>>>();
        let listed = listed.filter(|_| !self.strict.is_empty());
        self.left = listed.ok_or_else(|| bad_frame(bci, 0))?;
        Ok(())
    }

    /// Removes the field that an instruction assigns, if it is one of the object that is being constructed. `stack` has
    /// the types before the instruction, one for each value.
    pub(crate) fn step(
        &mut self,
        instruction: &Instruction<'_>,
        stack: &[Type<'_>],
        pool: &ConstantPool<'t>,
    ) {
        let object = stack.iter().rev().nth(1);
        if instruction.opcode != opcode::PUTFIELD || object != Some(&Type::UninitializedThis) {
            return;
        }
        if let Some(field) = instruction.pool_index().and_then(|at| pool.member_ref(at)) {
            self.assign(field.name.as_bytes(), field.descriptor.as_bytes());
        }
    }

    /// Removes a field.
    pub(crate) fn assign(&mut self, name: &'t [u8], descriptor: &'t [u8]) {
        self.left.remove(&(name, descriptor));
    }

    /// Appends the list of a frame, behind which the frame follows; `None` if the pool is full.
    pub(crate) fn write(&self, pool: &mut PoolWriter, out: &mut Vec<u8>) -> Option<()> {
        let mut indices = Vec::new();
        for (name, descriptor) in &self.left {
            let (name, descriptor) = (pool.utf8(name)?, pool.utf8(descriptor)?);
            let index = pool.name_and_type(name, descriptor)?;
            indices.extend_from_slice(&index.to_be_bytes());
        }
        UnsetFieldList::of(&indices).write(out);
        Some(())
    }
}
