//! The interface `rewrite`: code that a plugin inserts.

use rewriter::{Label, MemberName, Snippet, SnippetError};
use wasmtime::Result;
use wasmtime::component::Resource;

use crate::bindings::classhook::plugin::class_file::MemberRef;
use crate::bindings::classhook::plugin::rewrite::{Host as RewriteHost, HostSnippet};
use crate::bindings::classhook::plugin::types::{Failure, Site};
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
type Answer<T = ()> = Result<std::result::Result<T, Failure>>;

fn name(target: MemberRef, interface: bool) -> MemberName {
    MemberName {
        owner: target.owner,
        name: target.name,
        descriptor: target.descriptor,
        interface,
    }
}

fn text(member: &MemberName) -> usize {
    member.owner.len() + member.name.len() + member.descriptor.len()
}

impl Code {
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

    fn told(&mut self, result: std::result::Result<(), String>) -> Answer {
        Ok(match result {
            Ok(()) => Ok(()),
            Err(message) => Err(self.job()?.refuse(None, "H0317", message, None)),
        })
    }
}

impl RewriteHost for State {
    fn insert(&mut self, _: Resource<PlanHandle>, at: Vec<Site>, code: Resource<Code>) -> Answer {
        let Code {
            snippet, weight, ..
        } = self.resources.get(&code)?.clone();
        let tokens = at.iter().map(|site| site.token);
        Ok(self.job()?.insert(tokens, snippet, weight))
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
