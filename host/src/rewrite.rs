//! The interface `rewrite`: code that a plugin inserts, and instructions that it changes.

use rewriter::{
    CallTarget, Change, ClassEdit, EditConstant, Label, MemberName, MethodIndex, Snippet,
    SnippetError,
};
use wasmtime::Result;
use wasmtime::component::Resource;

use crate::bindings::classhook::plugin::class_file::MemberRef;
use crate::bindings::classhook::plugin::rewrite::{Host as RewriteHost, HostSnippet};
use crate::bindings::classhook::plugin::types::{Constant, Failure, Site};
use crate::job::PlanHandle;
use crate::state::State;

/// Stands for the resource `snippet`.
#[derive(Debug, Clone, Default)]
pub struct Code {
    snippet: Snippet,
    /// Those made so far; the plugin knows them by their position.
    labels: Vec<Label>,
    /// Bytes that it takes here, about.
    weight: usize,
}

/// Bytes of one operation, beside its text.
const OPERATION: usize = 64;
/// Most labels of one snippet, and the number of one that is too many.
const MAX_LABELS: usize = 1 << 16;
const NO_LABEL: u32 = u32::MAX;

/// What a plugin is told of a request.
pub(crate) type Answer<T = ()> = Result<std::result::Result<T, Failure>>;

pub(crate) fn name(target: MemberRef, interface: bool) -> MemberName {
    MemberName {
        owner: target.owner,
        name: target.name,
        descriptor: target.descriptor,
        interface,
    }
}

pub(crate) fn text(member: &MemberName) -> usize {
    member.owner.len() + member.name.len() + member.descriptor.len()
}

pub(crate) fn constant(value: Constant) -> EditConstant {
    match value {
        Constant::Integer(value) => EditConstant::Int(value),
        Constant::Long(value) => EditConstant::Long(value),
        Constant::Float(value) => EditConstant::Float(value.to_bits()),
        Constant::Double(value) => EditConstant::Double(value.to_bits()),
        Constant::Text(text) => EditConstant::String(text),
    }
}

impl Code {
    /// The code, and what it weighs.
    pub(crate) fn parts(&self) -> (Snippet, usize) {
        (self.snippet.clone(), self.weight)
    }

    fn label(&self, number: u32) -> std::result::Result<Label, String> {
        let label = usize::try_from(number)
            .ok()
            .and_then(|at| self.labels.get(at));
        label
            .copied()
            .ok_or_else(|| format!("label {number} was not made by this snippet"))
    }
}

impl State {
    /// Adds an operation with `text` bytes of text to a snippet, or says why that cannot be.
    fn extend(
        &mut self,
        of: &Resource<Code>,
        text: usize,
        add: impl FnOnce(&mut Snippet) -> std::result::Result<(), SnippetError>,
    ) -> Answer {
        let code = self.resources.get_mut(of)?;
        code.weight += OPERATION + text;
        let added = add(&mut code.snippet);
        self.told(added.map_err(|error| error.to_string()))
    }

    /// Adds what goes to a label.
    fn extend_at(
        &mut self,
        of: &Resource<Code>,
        label: u32,
        add: impl FnOnce(&mut Snippet, Label) -> std::result::Result<(), SnippetError>,
    ) -> Answer {
        let code = self.resources.get_mut(of)?;
        code.weight += OPERATION;
        let added = code
            .label(label)
            .and_then(|label| add(&mut code.snippet, label).map_err(|error| error.to_string()));
        self.told(added)
    }

    /// Changes the instructions at these sites; `weight` is the change's size in bytes.
    fn change(&mut self, at: &[Site], change: Change, weight: usize) -> Answer {
        let tokens = at.iter().map(|site| site.token);
        let weight = (OPERATION + weight).saturating_mul(at.len());
        Ok(self.job()?.change(tokens, &change, weight))
    }

    fn told(&mut self, result: std::result::Result<(), String>) -> Answer {
        Ok(match result {
            Ok(()) => Ok(()),
            Err(message) => Err(self.job()?.refuse(None, "H0317", message, None)),
        })
    }
}

impl RewriteHost for State {
    fn insert(&mut self, _: Resource<PlanHandle>, at: Vec<Site>, code: Resource<Code>) -> Answer {
        let (snippet, weight) = self.resources.get(&code)?.parts();
        let tokens = at.iter().map(|site| site.token);
        Ok(self.job()?.insert(tokens, snippet, weight))
    }

    fn replace_body(
        &mut self,
        _: Resource<PlanHandle>,
        method: u16,
        code: Resource<Code>,
    ) -> Answer {
        let (body, weight) = self.resources.get(&code)?.parts();
        let method = MethodIndex(method);
        let edit = ClassEdit::ReplaceBody { method, body };
        Ok(self.job()?.edit_class(edit, weight))
    }

    fn wrap(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        before: Resource<Code>,
        after: Resource<Code>,
    ) -> Answer {
        let before = self.resources.get(&before)?.parts();
        let after = self.resources.get(&after)?.parts();
        let tokens = at.iter().map(|site| site.token);
        Ok(self.job()?.wrap(tokens, before, after))
    }

    fn redirect_call(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        opcode: u8,
        target: MemberRef,
        of_interface: bool,
    ) -> Answer {
        let method = name(target, of_interface);
        let weight = text(&method);
        self.change(&at, Change::Call(CallTarget { opcode, method }), weight)
    }

    fn redirect_field(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        opcode: u8,
        target: MemberRef,
    ) -> Answer {
        let field = name(target, false);
        let weight = text(&field);
        self.change(&at, Change::Field { opcode, field }, weight)
    }

    fn redirect_allocation(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        target: MemberRef,
        of_interface: bool,
    ) -> Answer {
        let method = name(target, of_interface);
        let weight = text(&method);
        self.change(&at, Change::Factory(method), weight)
    }

    fn allocate(&mut self, _: Resource<PlanHandle>, at: Vec<Site>, name: String) -> Answer {
        let weight = name.len();
        self.change(&at, Change::New(name), weight)
    }

    fn remove(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        value: Option<Constant>,
    ) -> Answer {
        let weight = match &value {
            Some(Constant::Text(text)) => text.len(),
            _ => 0,
        };
        self.change(&at, Change::Remove(value.map(constant)), weight)
    }
}

impl HostSnippet for State {
    fn new(&mut self) -> Result<Resource<Code>> {
        Ok(self.resources.push(Code::default())?)
    }

    fn load_this(&mut self, of: Resource<Code>) -> Answer {
        self.extend(&of, 0, Snippet::load_this)
    }

    fn load_argument(&mut self, of: Resource<Code>, index: u8) -> Answer {
        self.extend(&of, 0, |code| code.load_argument(index))
    }

    fn push_int(&mut self, of: Resource<Code>, value: i32) -> Answer {
        self.extend(&of, 0, |code| code.push_int(value))
    }

    fn push_long(&mut self, of: Resource<Code>, value: i64) -> Answer {
        self.extend(&of, 0, |code| code.push_long(value))
    }

    fn push_float(&mut self, of: Resource<Code>, value: f32) -> Answer {
        self.extend(&of, 0, |code| code.push_float(value))
    }

    fn push_double(&mut self, of: Resource<Code>, value: f64) -> Answer {
        self.extend(&of, 0, |code| code.push_double(value))
    }

    fn push_string(&mut self, of: Resource<Code>, value: String) -> Answer {
        self.extend(&of, value.len(), |code| code.push_string(&value))
    }

    fn push_class(&mut self, of: Resource<Code>, name: String) -> Answer {
        self.extend(&of, name.len(), |code| code.push_class(&name))
    }

    fn push_null(&mut self, of: Resource<Code>) -> Answer {
        self.extend(&of, 0, Snippet::push_null)
    }

    fn invoke(
        &mut self,
        of: Resource<Code>,
        opcode: u8,
        target: MemberRef,
        of_interface: bool,
    ) -> Answer {
        let target = name(target, of_interface);
        self.extend(&of, text(&target), |code| code.invoke(opcode, target))
    }

    fn field(&mut self, of: Resource<Code>, opcode: u8, target: MemberRef) -> Answer {
        let target = name(target, false);
        self.extend(&of, text(&target), |code| code.field(opcode, target))
    }

    fn with_type(&mut self, of: Resource<Code>, opcode: u8, name: String) -> Answer {
        self.extend(&of, name.len(), |code| code.with_type(opcode, &name))
    }

    fn op(&mut self, of: Resource<Code>, opcode: u8, operand: i32) -> Answer {
        self.extend(&of, 0, |code| code.op(opcode, operand))
    }

    fn increment(&mut self, of: Resource<Code>, slot: u16, by: i16) -> Answer {
        self.extend(&of, 0, |code| code.increment(slot, by))
    }

    fn new_label(&mut self, of: Resource<Code>) -> Result<u32> {
        let code = self.resources.get_mut(&of)?;
        if code.labels.len() == MAX_LABELS {
            return Ok(NO_LABEL);
        }
        let label = code.snippet.new_label();
        code.labels.push(label);
        Ok(u32::try_from(code.labels.len() - 1).unwrap_or(NO_LABEL))
    }

    fn place(&mut self, of: Resource<Code>, label: u32) -> Answer {
        self.extend_at(&of, label, Snippet::place)
    }

    fn jump(&mut self, of: Resource<Code>, opcode: u8, label: u32) -> Answer {
        self.extend_at(&of, label, |code, label| code.jump(opcode, label))
    }

    fn drop(&mut self, of: Resource<Code>) -> Result<()> {
        self.resources.delete(of)?;
        Ok(())
    }
}
