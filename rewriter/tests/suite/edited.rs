//! Plans that change the structure or the instructions of a whole class, one for each kind; shared with the corpus
//! example.

use jvms::opcode;
use rewriter::{
    Annotation, Assemble, CallTarget, Change, ClassEdit, ClassFile, Constant, EditPlan,
    ElementValue, Instruction, Member, Method, NewField, NewMethod, PlanBuilder, PlanError,
    Snippet, Target,
};

/// The kinds of plans.
pub const KINDS: [&str; 7] = [
    // every call and field access redirected to a static method, or removed
    "redirected",
    "removed",
    // every call, field access, monitor instruction and array creation timed
    "surrounded",
    // every allocation replaced by a factory call
    "allocated",
    // fields, methods, an interface, annotations and attributes added
    "members",
    // every private member renamed
    "renamed",
    // the body of every method replaced
    "bodies",
];

const PRIVATE: u16 = 0x0002;
const INTERFACE: u16 = 0x0200;

/// Returns a plan of this kind. It leaves out changes that the builder refuses, because the arguments of an allocation
/// may branch.
pub fn plan(class: &ClassFile<'_>, kind: &str) -> Result<EditPlan, PlanError> {
    let mut plan = PlanBuilder::new(class);
    match kind {
        "redirected" | "removed" | "allocated" => changes(class, kind, &mut plan)?,
        "surrounded" => surrounded(class, &mut plan)?,
        "members" => edit(&mut plan, members(class))?,
        "renamed" => edit(&mut plan, renamed(class))?,
        _ => edit(
            &mut plan,
            class.methods().filter_map(|method| body(&method)),
        )?,
    }
    Ok(plan.finish())
}

fn edit(
    plan: &mut PlanBuilder<'_, '_>,
    edits: impl IntoIterator<Item = ClassEdit>,
) -> Result<(), PlanError> {
    edits.into_iter().try_for_each(|edit| plan.edit_class(edit))
}

fn changes(
    class: &ClassFile<'_>,
    kind: &str,
    plan: &mut PlanBuilder<'_, '_>,
) -> Result<(), PlanError> {
    for method in class.methods() {
        let Ok(Some(code)) = method.code() else {
            continue;
        };
        for found in code.instructions().map_while(Result::ok) {
            let change = match kind {
                "redirected" => stand_in(class, &found),
                "removed" => matches!(found.opcode, opcode::GETSTATIC..=opcode::INVOKEDYNAMIC)
                    .then_some(Change::Remove(None)),
                _ => factory(class, &code, &found),
            };
            match change.map(|change| plan.change(method.index(), found.bci, change)) {
                None | Some(Ok(()) | Err(PlanError::Change { .. })) => {}
                Some(Err(other)) => return Err(other),
            }
        }
    }
    Ok(())
}

/// Surrounds every possible instruction with code, alternately with and without branches.
fn surrounded(class: &ClassFile<'_>, plan: &mut PlanBuilder<'_, '_>) -> Result<(), PlanError> {
    let mut branches = false;
    for method in class.methods() {
        let Ok(Some(code)) = method.code() else {
            continue;
        };
        for found in code.instructions().map_while(Result::ok) {
            let mut around = |operand| {
                let change = Change::Around(timed(operand, branches));
                plan.change(method.index(), found.bci, change)
            };
            branches = match around(true).or_else(|_| around(false)) {
                Ok(()) => !branches,
                Err(PlanError::Change { .. } | PlanError::NotThere { .. }) => branches,
                Err(other) => return Err(other),
            };
        }
    }
    Ok(())
}

/// Records the time before and after the instruction, without operand or with the first one.
pub fn timed(operand: bool, branches: bool) -> Snippet {
    let mut code = Snippet::new();
    let now = |code: &mut Snippet| {
        let now = Member {
            owner: "java/lang/System".to_owned(),
            name: "nanoTime".to_owned(),
            descriptor: "()J".to_owned(),
            interface: false,
        };
        code.invoke(opcode::INVOKESTATIC, now).unwrap();
    };
    let skip = |code: &mut Snippet| {
        let end = code.new_label();
        code.push_int(1).unwrap();
        code.jump(opcode::IFNE, end).unwrap();
        code.push_null().unwrap();
        code.op(opcode::ATHROW, 0).unwrap();
        code.place(end).unwrap();
    };
    now(&mut code);
    code.op(opcode::LSTORE, 0).unwrap();
    if operand {
        code.load_operand(0).unwrap();
        // Refused for an operand of two slots.
        code.push_int(1).unwrap();
        code.op(opcode::POP2, 0).unwrap();
    }
    if branches {
        skip(&mut code);
    }
    code.proceed().unwrap();
    if branches {
        skip(&mut code);
    }
    now(&mut code);
    code.op(opcode::LLOAD, 0).unwrap();
    code.op(opcode::LSUB, 0).unwrap();
    code.op(opcode::POP2, 0).unwrap();
    code
}

fn hook(descriptor: String) -> Member {
    Member {
        owner: "sample/Hooks".to_owned(),
        name: "hook".to_owned(),
        descriptor,
        interface: false,
    }
}

/// Returns a static method with the effect of a call or field access.
pub fn stand_in(class: &ClassFile<'_>, found: &Instruction<'_>) -> Option<Change> {
    let index = found.pool_index()?;
    let to = |descriptor| {
        Some(Change::Call(CallTarget {
            opcode: opcode::INVOKESTATIC,
            method: hook(descriptor),
        }))
    };
    if found.opcode == opcode::INVOKEDYNAMIC {
        return to(class.pool().dynamic(index)?.descriptor.to_str()?.to_owned());
    }
    let member = class.pool().member_ref(index)?;
    if member.name == "<init>" {
        return None;
    }
    let owner = member.owner.to_str()?;
    let receiver = if owner.starts_with('[') {
        owner.to_owned()
    } else {
        format!("L{owner};")
    };
    let descriptor = member.descriptor.to_str()?;
    to(match found.opcode {
        opcode::GETSTATIC => format!("(){descriptor}"),
        opcode::GETFIELD => format!("({receiver}){descriptor}"),
        opcode::PUTSTATIC => format!("({descriptor})V"),
        opcode::PUTFIELD => format!("({receiver}{descriptor})V"),
        opcode::INVOKESTATIC => descriptor.to_owned(),
        _ => format!("({receiver}{}", descriptor.get(1..)?),
    })
}

/// Returns a static method with the parameters of the first constructor call of this class after a `new`.
fn factory(
    class: &ClassFile<'_>,
    code: &rewriter::Code<'_, '_>,
    found: &Instruction<'_>,
) -> Option<Change> {
    if found.opcode != opcode::NEW {
        return None;
    }
    let name = class.pool().class_name(found.pool_index()?)?;
    let later = code.instructions().map_while(Result::ok);
    let mut calls = later
        .filter(|next| next.bci > found.bci && next.opcode == opcode::INVOKESPECIAL)
        .filter_map(|next| class.pool().member_ref(next.pool_index()?));
    let call = calls.find(|member| member.name == "<init>" && member.owner == name)?;
    let descriptor = call.descriptor.to_str()?.strip_suffix('V')?;
    Some(Change::Factory(hook(format!(
        "{descriptor}Ljava/lang/Object;"
    ))))
}

fn mark(target: Target, visible: bool) -> ClassEdit {
    let element = |name: &str, value| (name.to_owned(), value);
    ClassEdit::AddAnnotation {
        target,
        visible,
        annotation: Annotation {
            descriptor: "Lsample/Marked;".to_owned(),
            elements: vec![
                element("text", ElementValue::String("é\0😀".to_owned())),
                element(
                    "types",
                    ElementValue::Array(vec![ElementValue::Class("[I".to_owned())]),
                ),
            ],
        },
    }
}

fn members(class: &ClassFile<'_>) -> Vec<ClassEdit> {
    let mut edits = vec![mark(Target::Class, true)];
    if class.access_flags() & 0x8000 != 0 {
        return edits; // a module has no members
    }
    for (name, descriptor, value) in [
        ("added$number", "J", Constant::Long(-1)),
        (
            "added$text",
            "Ljava/lang/String;",
            Constant::Text("w".to_owned()),
        ),
    ] {
        edits.push(ClassEdit::AddField(NewField {
            flags: 0x1019,
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            value: Some(value),
        }));
    }
    let serializable = "java/io/Serializable";
    if class.this_class() != serializable && class.interfaces().all(|name| name != serializable) {
        edits.push(ClassEdit::AddInterface(serializable.to_owned()));
    }
    let interface = class.access_flags() & INTERFACE != 0;
    if !interface || class.major_version() >= 52 {
        edits.push(ClassEdit::AddMethod(NewMethod {
            flags: 0x1009,
            name: "added$method".to_owned(),
            descriptor: "(J[Ljava/lang/String;)J".to_owned(),
            body: Some(counting("J")),
        }));
    }
    let attribute = |target| ClassEdit::AddAttribute {
        target,
        name: "sample.Note".to_owned(),
        bytes: vec![1, 2, 3],
    };
    for method in class.methods() {
        edits.push(mark(Target::Method(method.index()), method.has_code()));
        edits.push(attribute(Target::Method(method.index())));
    }
    for field in class.fields() {
        let name = field.name().to_str().zip(field.descriptor().to_str());
        edits.extend(name.map(|(name, descriptor)| {
            let (name, descriptor) = (name.to_owned(), descriptor.to_owned());
            attribute(Target::Field { name, descriptor })
        }));
    }
    edits
}

fn renamed(class: &ClassFile<'_>) -> Vec<ClassEdit> {
    let Some(owner) = class.this_class().to_str() else {
        return Vec::new();
    };
    let fields = class
        .fields()
        .map(|field| (field.access_flags(), field.name(), field.descriptor()));
    let methods = class
        .methods()
        .map(|method| (method.access_flags(), method.name(), method.descriptor()));
    let private = fields
        .chain(methods)
        .filter(|(flags, ..)| flags & PRIVATE != 0);
    let names = private.filter_map(|(_, name, descriptor)| name.to_str().zip(descriptor.to_str()));
    names
        .filter(|(name, _)| !name.starts_with('<'))
        .map(|(name, descriptor)| ClassEdit::RenameMember {
            member: Member {
                owner: owner.to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
                interface: false,
            },
            to: format!("{name}$renamed"),
        })
        .collect()
}

/// Returns a body with branches and local variables for a method that invocations can name.
fn body(method: &Method<'_, '_>) -> Option<ClassEdit> {
    let name = method.name();
    if !method.has_code() || name == "<init>" || name == "<clinit>" {
        return None;
    }
    let descriptor = method.descriptor().to_str()?;
    let result = descriptor.rsplit(')').next()?;
    Some(ClassEdit::ReplaceBody {
        method: method.index(),
        body: counting(result),
    })
}

/// Counts down from three, keeps a `long` and a string, and returns zero or null.
pub fn counting(result: &str) -> Snippet {
    let mut body = Snippet::new();
    let (again, done) = (body.new_label(), body.new_label());
    body.push_int(3).unwrap();
    body.op(opcode::ISTORE, 0).unwrap();
    body.push_long(5).unwrap();
    body.op(opcode::LSTORE, 1).unwrap();
    body.place(again).unwrap();
    body.push_string("text").unwrap();
    body.op(opcode::ASTORE, 3).unwrap();
    body.increment(0, -1).unwrap();
    body.op(opcode::ILOAD, 0).unwrap();
    body.jump(opcode::IFGT, again).unwrap();
    body.op(opcode::LLOAD, 1).unwrap();
    body.op(opcode::L2I, 0).unwrap();
    body.jump(opcode::IFEQ, done).unwrap();
    body.op(opcode::ALOAD, 3).unwrap();
    body.op(opcode::POP, 0).unwrap();
    body.place(done).unwrap();
    match result {
        "V" => body.op(opcode::RETURN, 0),
        "J" => body.push_long(0).and_then(|()| body.op(opcode::LRETURN, 0)),
        "F" => body
            .push_float(0.0)
            .and_then(|()| body.op(opcode::FRETURN, 0)),
        "D" => body
            .push_double(0.0)
            .and_then(|()| body.op(opcode::DRETURN, 0)),
        "I" | "Z" | "B" | "C" | "S" => body.push_int(0).and_then(|()| body.op(opcode::IRETURN, 0)),
        _ => body.push_null().and_then(|()| body.op(opcode::ARETURN, 0)),
    }
    .unwrap();
    body
}
