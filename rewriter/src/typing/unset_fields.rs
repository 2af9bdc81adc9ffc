//! The strict fields of an object that a constructor has not assigned yet.

use std::collections::BTreeSet;

use crate::class::{Instruction, Method};
use crate::error::ReadError;
use crate::pool::{ConstantPool, PoolWriter};
use crate::stack_map::{UnsetFieldList, bad_frame};
use crate::typing::types::Type;
use jvms::access_flags::{ACC_STATIC, ACC_STRICT_INIT};
use jvms::opcode;

/// The strict fields (`ACC_STRICT_INIT`, preview in JDK 28) without a value, each with name and descriptor.
///
/// A constructor assigns all of them before it calls `super()`. Up to there, frames have the fields that are left.
/// Other methods have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UnsetFields<'t>(BTreeSet<(&'t [u8], &'t [u8])>);

impl<'t> UnsetFields<'t> {
    /// Returns the fields at the entry of a method.
    pub(crate) fn at_entry(method: &Method<'_, 't>) -> Self {
        if !method.is_constructor() {
            return Self::default();
        }
        let is_strict = |flags: u16| flags & (ACC_STRICT_INIT | ACC_STATIC) == ACC_STRICT_INIT;
        let fields = method.class().fields();
        let strict = fields.filter(|field| is_strict(field.access_flags()));
        let named = strict.map(|field| (field.name().as_bytes(), field.descriptor().as_bytes()));
        UnsetFields(named.collect())
    }

    /// Returns whether each of these fields is also one of `others`.
    pub(crate) fn is_within(&self, others: &Self) -> bool {
        self.0.is_subset(&others.0)
    }

    /// Takes the fields of a frame at `bci` that lists them. Without a list, they are those of the frame before.
    pub(crate) fn take_listed(
        &mut self,
        list: UnsetFieldList<'t>,
        pool: &ConstantPool<'t>,
        bci: u32,
    ) -> Result<(), ReadError> {
        let Some(indices) = list.indices() else {
            return Ok(());
        };
        self.0.clear();
        for index in indices {
            let field = pool.name_and_type(index);
            let (name, descriptor) = field.ok_or_else(|| bad_frame(bci, 0))?;
            self.0.insert((name.as_bytes(), descriptor.as_bytes()));
        }
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
        self.0.remove(&(name, descriptor));
    }

    /// Appends the list of a frame, behind which the frame follows; `None` if the pool is full.
    pub(crate) fn write(&self, pool: &mut PoolWriter, out: &mut Vec<u8>) -> Option<()> {
        let mut indices = Vec::new();
        for (name, descriptor) in &self.0 {
            let (name, descriptor) = (pool.utf8(name)?, pool.utf8(descriptor)?);
            let index = pool.name_and_type(name, descriptor)?;
            indices.extend_from_slice(&index.to_be_bytes());
        }
        UnsetFieldList::of(&indices).write(out);
        Some(())
    }
}
