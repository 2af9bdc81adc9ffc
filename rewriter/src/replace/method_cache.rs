//! MethodCache about a method that replacements need, computed once.

use std::cell::OnceCell;

use crate::class::{ClassFile, Code, Method};
use crate::edits::ChangeError;
use crate::plan::SkipReason;
use crate::typing::{MethodContext, PointTypes, ProgramPoint};

type Cached<T> = OnceCell<Result<T, ChangeError>>;

/// Cached cache.
#[derive(Default)]
pub(crate) struct MethodCache<'t> {
    plain: Cached<MethodContext<'t>>,
    /// The context with the overwritten parameters.
    lost: Cached<MethodContext<'t>>,
    ready: Cached<PointTypes<'t>>,
}

fn unknown(_: SkipReason) -> ChangeError {
    ChangeError::NotHere("the types of the method's values cannot be followed")
}

impl<'t> MethodCache<'t> {
    /// Returns the method's context, with its overwritten parameters if requested.
    pub(super) fn context(
        &self,
        class: &ClassFile<'t>,
        method: &Method<'_, 't>,
        code: &Code<'_, 't>,
        parameters: bool,
    ) -> Result<&MethodContext<'t>, ChangeError> {
        let find = || {
            let mut context = MethodContext::of(class, method, code).map_err(unknown)?;
            if parameters {
                context.find_lost(class, code).map_err(unknown)?;
            }
            Ok(context)
        };
        let cell = if parameters { &self.lost } else { &self.plain };
        cell.get_or_init(find).as_ref().map_err(Clone::clone)
    }

    /// Checks whether `this` is initialized at `point`.
    pub(super) fn is_ready(
        &self,
        class: &ClassFile<'t>,
        context: &MethodContext<'t>,
        code: &Code<'_, 't>,
        point: ProgramPoint,
    ) -> Result<bool, ChangeError> {
        let find = || PointTypes::known(class, context, &[], code.handler_bytes()).map_err(unknown);
        let points = self.ready.get_or_init(find);
        let points = points.as_ref().map_err(Clone::clone)?;
        Ok(points.is_ready(point, context.code))
    }
}
