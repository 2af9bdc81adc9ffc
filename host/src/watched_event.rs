//! The code of events whose values come only from `when` and `show`: lines that are reached, and
//! fields that are written.
//!
//! ```text
//! line     (each variable that is read from → $Classhook.number | object)  $Classhook.event(id)
//! write    the same around the instruction, of its operands
//! ```
//!
//! The old value of a field is read from the object on the stack, by the same field reference as in
//! the instruction. So the code throws only what the instruction throws, and needs no branch.

use std::sync::Arc;

use conditions::{About, NamedField, Program, WriteSite};
use globs::FieldPattern;
use jvms::descriptor::{BaseType, FieldType, Parameters};
use jvms::opcode;
use plan_rules::{EventRequest, instruction_at};
use probes::ProbeTable;
use probes::events::{CaptureSource, EventInfo, SpanInfo, SpanMode};
use probes::spans::CaptureSpec;
use rewriter::{
    Assemble, Bci, Change, ClassFile, Code, EditPlan, InsertionPoint, LocalVariable, Location,
    Member, Method, PlanChecker, Snippet, SnippetError,
};

use crate::class::TransformedClass;
use crate::helper_calls::{call, to_bits};
use crate::plugin::Plugin;
use crate::span::{LeftAlone, NUMBER, OBJECT, Refused, about, line_at};

/// The helper's method that records an event.
const EVENT: (&str, &str) = ("event", "(I)V");
/// The text in place of the local variables of a class file that does not name them.
const UNNAMED: &str = "not named by the class file: compile with -g";
/// The oldest class files in which a constant may be a class (JVMS 4.9.1).
const CLASS_CONSTANTS: u16 = 49;

/// Returns the compiled condition and list of a plugin for such events, if it has them.
pub(crate) fn program(plugin: &Plugin) -> Option<&Arc<Program>> {
    let watch = plugin.watch.as_ref();
    watch.filter(|program| program.watch().about != About::Calls)
}

/// Adds the events of one plugin without values of their own to the plan of a class. Returns the
/// methods in which an event is left out.
pub(crate) fn add<'r>(
    merged: &mut EditPlan,
    transformed: &TransformedClass,
    (plugin, program): (&Plugin, &Arc<Program>),
    requests: impl Iterator<Item = (u32, &'r EventRequest)>,
    table: &ProbeTable,
) -> Result<LeftAlone, Refused> {
    let class = transformed.class();
    let mut left_alone = LeftAlone::new();
    let mut sites = Vec::new();
    for (number, request) in requests {
        match Site::of(class, number, request, program) {
            Ok(site) => sites.push(site),
            Err(cause) => left_alone.push((request.point.method, cause)),
        }
    }
    // A variable may be out of scope at some bcis of a line, because the bodies of lambdas have
    // their own variables.
    let is_anywhere = sites.iter().any(|site| site.lacks.is_none());
    for site in sites {
        if let (Some(cause), false) = (&site.lacks, is_anywhere) {
            left_alone.push((site.point.method, cause.clone()));
            continue;
        }
        let method = site.point.method;
        let refused = |cause| Refused { method, cause };
        let spans = table.spans_of(plugin.session);
        let info = SpanInfo {
            mode: SpanMode::Events,
            number: site.number,
            line: line_at(class, method, site.bci),
            when: program
                .watch()
                .when
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            shown: site.names(),
            event: Some(site.about()),
            ..about(transformed, plugin.recorded_name(), method)
        };
        let id = spans.register_watched(&info, Some(&site.program), site.parameters);
        let id = id.map_err(|error| refused(error.to_string()))?;
        let code = site.code(spans.in_code(id).cast_signed());
        let code = code.map_err(|error| refused(error.to_string()))?;
        let added = match site.is_around {
            true => merged.change(method, site.bci, Change::Around(code)),
            false => merged.insert(EventRequest::in_front(site.point), code),
        };
        added.map_err(|error| refused(error.to_string()))?;
    }
    Ok(left_alone)
}

/// The place of an event, with the values to read there.
struct Site {
    number: u32,
    point: InsertionPoint,
    bci: Bci,
    program: Arc<Program>,
    parameters: u8,
    limit: u32,
    is_around: bool,
    /// For each variable of the program, the code that loads it.
    variables: Vec<Value>,
    /// The other local variables to show, with names and the code that loads them.
    locals: Option<Vec<(String, Load)>>,
    /// The field that is written.
    writes: Option<String>,
    /// The reason why a requested variable is missing.
    lacks: Option<String>,
}

/// A variable that a program reads from.
enum Value {
    Loaded(Load),
    /// The variable is unknown here.
    Unknown,
    /// The variable cannot exist here: a static method has no `this`.
    Absent,
}

/// Code that leaves a value on the operand stack.
#[derive(Clone)]
struct Load {
    code: Snippet,
    /// The primitive type; `None` for a reference.
    base: Option<BaseType>,
}

/// The surroundings of an event.
struct EventContext<'c, 'a> {
    class: &'c ClassFile<'a>,
    method: Method<'c, 'a>,
    code: Code<'c, 'a>,
    point: InsertionPoint,
    bci: Bci,
    write: Option<Write>,
}

/// An instruction that writes a field.
struct Write {
    member: Member,
    is_static: bool,
    /// `false` if the object is not initialized, so that no code can surround the instruction.
    is_reachable: bool,
}

impl Site {
    fn of(
        class: &ClassFile<'_>,
        number: u32,
        request: &EventRequest,
        program: &Arc<Program>,
    ) -> Result<Self, String> {
        let EventRequest { point, values } = request;
        let place = EventContext::of(class, *point)?;
        let program = place.program(program)?;
        let (mut variables, mut lacks) = (Vec::new(), None);
        for name in program.variables() {
            variables.push(match place.find(name) {
                Ok(Some(load)) => Value::Loaded(load),
                Ok(None) => Value::Absent,
                Err(cause) => {
                    let is_write = place.write.is_some();
                    lacks = lacks.or((!is_write).then_some(cause));
                    Value::Unknown
                }
            });
        }
        let locals = program
            .shows_locals()
            .then(|| place.locals(program.names().count()));
        let descriptor = place.method.descriptor();
        Ok(Self {
            number,
            point: *point,
            bci: place.bci,
            parameters: plan_rules::span::parameter_count(descriptor.as_bytes()),
            limit: values.limit(),
            is_around: place.is_around(),
            variables,
            locals,
            writes: place.write.as_ref().map(|write| {
                let Member { owner, name, .. } = &write.member;
                format!("{owner}.{name}")
            }),
            lacks,
            program,
        })
    }

    fn names(&self) -> Vec<String> {
        let locals = self.locals.iter().flatten().map(|(name, _)| name.clone());
        self.program.names().chain(locals).collect()
    }

    fn about(&self) -> EventInfo {
        let first = u8::try_from(self.program.names().count()).unwrap_or(u8::MAX);
        EventInfo {
            per_second: None,
            locals: self.locals.as_ref().map(|_| first),
            writes: self.writes.clone(),
            waits: None,
        }
    }

    fn code(&self, id: i32) -> Result<Snippet, SnippetError> {
        let mut code = Snippet::new();
        let mut first = true;
        for (index, load) in (0..).zip(&self.variables) {
            let kind = match load {
                Value::Loaded(load) => {
                    load.put(&mut code)?;
                    load.kind()
                }
                Value::Unknown => {
                    code.push_long(0)?;
                    b'?'
                }
                Value::Absent => continue,
            };
            let is_object = kind == b'L';
            let spec = CaptureSpec::read_from_variable(kind, index, self.limit, first);
            keep(&mut code, spec, is_object, id)?;
            first = false;
        }
        let count = u8::try_from(self.program.names().count()).unwrap_or(u8::MAX);
        for (slot, (_, load)) in (count..u8::MAX).zip(self.locals.iter().flatten()) {
            load.put(&mut code)?;
            let spec = CaptureSpec::new(load.kind(), CaptureSource::Shown(slot), self.limit, first);
            let spec = match self.program.depth() {
                0 => spec,
                _ => spec.opened(),
            };
            keep(&mut code, spec, load.base.is_none(), id)?;
            first = false;
        }
        code.push_int(id)?;
        call(&mut code, EVENT)?;
        if self.is_around {
            code.proceed()?;
        }
        Ok(code)
    }
}

/// Captures the value on the stack, a primitive one as a `long` with its bits.
fn keep(
    code: &mut Snippet,
    spec: CaptureSpec,
    is_object: bool,
    id: i32,
) -> Result<(), SnippetError> {
    code.push_int(spec.0)?;
    code.push_int(id)?;
    call(code, if is_object { OBJECT } else { NUMBER })
}

impl Load {
    fn new(
        base: Option<BaseType>,
        put: impl FnOnce(&mut Snippet) -> Result<(), SnippetError>,
    ) -> Result<Self, String> {
        let mut code = Snippet::new();
        put(&mut code).map_err(|error| error.to_string())?;
        Ok(Self { code, base })
    }

    fn kind(&self) -> u8 {
        self.base.map_or(b'L', BaseType::letter)
    }

    fn put(&self, code: &mut Snippet) -> Result<(), SnippetError> {
        code.append(&self.code)?;
        self.base.map_or(Ok(()), |base| to_bits(code, base))
    }

    /// Code that only loads the value and pops it, so that its types can be checked.
    fn alone(&self) -> Result<Snippet, SnippetError> {
        let mut code = self.code.clone();
        let is_wide = matches!(self.base, Some(BaseType::Long | BaseType::Double));
        code.op(if is_wide { opcode::POP2 } else { opcode::POP }, 0)?;
        Ok(code)
    }
}

impl<'c, 'a> EventContext<'c, 'a> {
    fn of(class: &'c ClassFile<'a>, point: InsertionPoint) -> Result<Self, String> {
        let method = class
            .method(point.method)
            .ok_or("there is no such method")?;
        let code = method.code().map_err(|error| error.to_string())?;
        let code = code.ok_or("the method has no code")?;
        let mut place = Self {
            class,
            bci: Bci(instruction_at(point.location).unwrap_or(0)),
            method,
            code,
            point,
            write: None,
        };
        place.write = place.writing()?;
        Ok(place)
    }

    /// Returns the field write at the instruction itself; `None` at other places.
    fn writing(&self) -> Result<Option<Write>, String> {
        let Location::At(bci) = self.point.location else {
            return Ok(None);
        };
        let found = self.code.instructions().flatten().find(|it| it.bci == bci);
        let found = found.ok_or("no instruction begins at this bci")?;
        let member = found
            .pool_index()
            .and_then(|at| self.class.pool().member_ref(at));
        let (opcode::PUTFIELD | opcode::PUTSTATIC, Some(member)) = (found.opcode, member) else {
            return Ok(None);
        };
        let mut proceed = Snippet::new();
        proceed.proceed().map_err(|error| error.to_string())?;
        Ok(Some(Write {
            member: Member {
                owner: member.owner.to_str_lossless().into_owned(),
                name: member.name.to_str_lossless().into_owned(),
                descriptor: member.descriptor.to_str_lossless().into_owned(),
                interface: false,
            },
            is_static: found.opcode == opcode::PUTSTATIC,
            is_reachable: self.fits_around(proceed),
        }))
    }

    /// Returns the program for this place. The instruction checks at run time whether its field is
    /// a watched one. An uninitialized object is the exception: there it writes only fields of its
    /// own class (JVMS 4.10.1.9.putfield).
    fn program(&self, program: &Arc<Program>) -> Result<Arc<Program>, String> {
        let Some(write) = &self.write else {
            return Ok(Arc::clone(program));
        };
        let Member {
            owner,
            name,
            descriptor,
            ..
        } = &write.member;
        let fields = program.watch().writes.iter();
        let fields = fields.filter_map(|field| FieldPattern::parse(field));
        let fields: Vec<FieldPattern> = fields.filter(|field| field.has_name(name)).collect();
        let knows_classes = self.class.major_version() >= CLASS_CONSTANTS;
        if !write.is_reachable || write.is_static && !knows_classes {
            return match fields.iter().any(|field| field.is_of(owner)) {
                true => Ok(Arc::clone(program)),
                false => Err(format!(
                    "it may write a watched field, which cannot be checked here: {owner}.{name}"
                )),
            };
        }
        let site = WriteSite {
            field: NamedField::new(owner, name, descriptor),
            is_static: write.is_static,
            classes: fields.iter().flat_map(FieldPattern::classes).collect(),
        };
        Ok(Arc::new(Program::of_write(program.watch(), &site)))
    }

    fn is_around(&self) -> bool {
        self.write.as_ref().is_some_and(|write| write.is_reachable)
    }

    /// Returns the code that loads a variable, or `None` if no variable can have this name here.
    ///
    /// # Errors
    /// The reason why the variable is unknown.
    fn find(&self, name: &str) -> Result<Option<Load>, String> {
        let index = name
            .strip_prefix("arg[")
            .and_then(|rest| rest.strip_suffix(']'));
        let load = match (name, index, &self.write) {
            ("this", ..) if self.method.is_static() => return Ok(None),
            ("object", _, Some(write)) if write.is_static => return Ok(None),
            ("this", ..) => Load::new(None, Snippet::load_this)?,
            (_, Some(index), _) => match self.argument(index.parse().unwrap_or(u8::MAX)) {
                Err(_) => return Ok(None),
                Ok(load) => load,
            },
            (name, None, Some(write)) => write.value(name)?,
            (name, None, None) => self.variable(name)?,
        };
        match self.fits(&load) {
            true => Ok(Some(load)),
            false if name == "this" || index.is_some() => Ok(None),
            false => Err(format!(
                "local variable `{name}` is not set on every path to this place"
            )),
        }
    }

    fn argument(&self, index: u8) -> Result<Load, String> {
        let descriptor = self.method.descriptor();
        let mut parameters = Parameters::of(descriptor.as_bytes());
        let found = parameters
            .nth(index.into())
            .ok_or("there is no such argument")?;
        Load::new(base_of(found), |code| code.load_argument(index))
    }

    /// Returns the local variables that the class file names here (JVMS 4.7.13), sorted by slot.
    fn in_scope(&self) -> Vec<LocalVariable<'a>> {
        let here = u32::from(self.bci.0);
        let mut found: Vec<_> = self.code.local_variables().collect();
        found.retain(|variable| {
            let start = u32::from(variable.start.0);
            (start..start + u32::from(variable.length)).contains(&here)
        });
        found.sort_by_key(|variable| variable.index.0);
        found
    }

    fn variable(&self, name: &str) -> Result<Load, String> {
        if let Some(found) = self.in_scope().into_iter().find(|found| found.name == name) {
            return load_variable(&found);
        }
        let names = self
            .in_scope()
            .into_iter()
            .map(|found| found.name.to_str_lossless().into_owned());
        let names: Vec<String> = names.collect();
        let has_names = self.code.local_variables().next().is_some();
        Err(match names.as_slice() {
            [] if !has_names => format!(
                "the class file has no names of local variables, so `{name}` is unknown; compile with -g, or use arg[0]"
            ),
            [] => format!("no local variable is in scope here, so `{name}` is unknown"),
            names => format!(
                "no local variable `{name}` is in scope here, before the line; in scope are: {}",
                names.join(", ")
            ),
        })
    }

    /// Returns the local variables in scope that are set, up to the limit of captured values;
    /// `slots` are already used.
    fn locals(&self, slots: usize) -> Vec<(String, Load)> {
        let room = usize::from(u8::MAX).saturating_sub(slots);
        let load = |found: LocalVariable<'_>| {
            let name = found.name.to_str_lossless().into_owned();
            Some((name, load_variable(&found).ok()?))
        };
        let fitting = |(_, load): &(String, Load)| self.fits(load);
        let named = self.in_scope().into_iter().filter_map(load).filter(fitting);
        let named: Vec<_> = named.take(room).collect();
        let has_locals = !self.method.is_static() || self.code.max_locals() > 0;
        if self.code.local_variables().next().is_some() || !has_locals {
            return named;
        }
        let this = self.find("this").ok().flatten();
        let this = this.map(|load| ("this".to_owned(), load));
        let arguments = (0..u8::MAX).map_while(|index| self.argument(index).ok().zip(Some(index)));
        let arguments = arguments.map(|(load, index)| (format!("arg[{index}]"), load));
        let remark = Load::new(None, |code| code.push_string(UNNAMED)).ok();
        let remark = remark.map(|load| ("locals".to_owned(), load));
        let all = this
            .into_iter()
            .chain(arguments.filter(fitting))
            .chain(remark);
        all.take(room).collect()
    }

    /// Checks whether a value can be loaded here.
    fn fits(&self, load: &Load) -> bool {
        let Ok(mut code) = load.alone() else {
            return false;
        };
        if self.is_around() {
            return code.proceed().is_ok() && self.fits_around(code);
        }
        let point = EventRequest::in_front(self.point);
        PlanChecker::new(self.class)
            .check_snippets(&[point], &code)
            .is_ok()
    }

    fn fits_around(&self, code: Snippet) -> bool {
        let at = (self.point.method, self.bci);
        let mut checker = PlanChecker::new(self.class);
        checker.check_changes(&[at], &Change::Around(code)).is_ok()
    }
}

impl Write {
    /// Returns the code that loads a value of the write. The old value of an object's field is read
    /// from the object.
    fn value(&self, name: &str) -> Result<Load, String> {
        if !self.is_reachable {
            return Err("the object is not initialized yet".to_owned());
        }
        let kind = FieldType::parse(self.member.descriptor.as_bytes());
        let base = base_of(kind.map_err(|error| error.to_string())?);
        match (name, self.is_static) {
            ("new", is_static) => {
                let index = if is_static { 0 } else { 1 };
                Load::new(base, |code| code.load_operand(index))
            }
            ("object", false) => Load::new(None, |code| code.load_operand(0)),
            ("old", true) => {
                let member = self.member.clone();
                Load::new(base, |code| code.field(opcode::GETSTATIC, member))
            }
            ("class", true) => Load::new(None, |code| code.push_class(&self.member.owner)),
            _ => Err("there is no such value".to_owned()),
        }
    }
}

fn load_variable(found: &LocalVariable<'_>) -> Result<Load, String> {
    let kind = FieldType::parse(found.descriptor.as_bytes()).map_err(|error| error.to_string())?;
    let base = base_of(kind);
    let opcode = match base {
        None => opcode::ALOAD,
        Some(BaseType::Long) => opcode::LLOAD,
        Some(BaseType::Float) => opcode::FLOAD,
        Some(BaseType::Double) => opcode::DLOAD,
        Some(_) => opcode::ILOAD,
    };
    Load::new(base, |code| code.load_variable(opcode, found.index.0))
}

fn base_of(kind: FieldType<'_>) -> Option<BaseType> {
    match kind {
        FieldType::Base(base) => Some(base),
        FieldType::Class(_) | FieldType::Array(_) => None,
    }
}
