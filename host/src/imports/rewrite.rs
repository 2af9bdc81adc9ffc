//! The interface `rewrite`: code that a plugin inserts, and instructions that it changes.

use edits::Edit;
use rewriter::{InsertionPoint, MethodIndex};
use wasmtime::component::Resource;

use super::convert::{Answer, all, answer};
use crate::bindings::classhook::plugin::rewrite::Host;
use crate::bindings::classhook::plugin::types::{Constant, Instruction, Member};
use crate::handles::PlanHandle;
use crate::store_data::StoreData;

type Points = Vec<InsertionPoint>;
type Code = Vec<Instruction>;

impl StoreData {
    /// Requests an edit.
    pub(super) fn edit(&mut self, edit: Edit) -> Answer {
        let asked = self.transformation()?.edit(edit);
        self.expect_memory()?;
        answer(asked)
    }

    /// Requests an edit at these points.
    fn edit_at(&mut self, at: &[u64], edit: impl FnOnce(Points) -> Edit) -> Answer {
        match self.transformation()?.points(at) {
            Ok(points) => self.edit(edit(points)),
            Err(refused) => answer(Err(refused)),
        }
    }
}

impl Host for StoreData {
    fn insert(&mut self, _: Resource<PlanHandle>, at: Vec<u64>, code: Code) -> Answer {
        self.edit_at(&at, |at| Edit::Insert(at, all(code)))
    }

    fn replace_body(&mut self, _: Resource<PlanHandle>, method: u16, code: Code) -> Answer {
        self.edit(Edit::ReplaceBody(MethodIndex(method), all(code)))
    }

    fn wrap(&mut self, _: Resource<PlanHandle>, at: Vec<u64>, before: Code, after: Code) -> Answer {
        self.edit_at(&at, |at| Edit::Wrap(at, all(before), all(after)))
    }

    fn around(&mut self, _: Resource<PlanHandle>, at: Vec<u64>, code: Code) -> Answer {
        self.edit_at(&at, |at| Edit::Around(at, all(code)))
    }

    fn redirect(&mut self, _: Resource<PlanHandle>, at: Vec<u64>, by: Instruction) -> Answer {
        self.edit_at(&at, |at| Edit::Redirect(at, by.into()))
    }

    fn redirect_allocation(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<u64>,
        target: Member,
    ) -> Answer {
        self.edit_at(&at, |at| Edit::RedirectAllocation(at, target.into()))
    }

    fn allocate(&mut self, _: Resource<PlanHandle>, at: Vec<u64>, name: String) -> Answer {
        self.edit_at(&at, |at| Edit::Allocate(at, name, false))
    }

    fn allocate_with_cast(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<u64>,
        name: String,
    ) -> Answer {
        self.edit_at(&at, |at| Edit::Allocate(at, name, true))
    }

    fn remove(&mut self, _: Resource<PlanHandle>, at: Vec<u64>, value: Option<Constant>) -> Answer {
        self.edit_at(&at, |at| Edit::Remove(at, value.map(Into::into)))
    }
}
