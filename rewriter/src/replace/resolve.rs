//! Resolves a change of an instruction: the instructions to delete, and the code that replaces them.

use crate::class::{ClassFile, Code, Instruction, Instructions, Method};
use crate::edits::{CallTarget, Change, ChangeError, Constant};
use crate::index::{Bci, PoolIndex};
use crate::limits::STATIC_INTERFACE_METHODS_SINCE;
use crate::pool::MemberRef;
use crate::replace::method_cache::MethodCache;
use crate::replace::objects::{Object, follow, is_named_by_a_frame};
use crate::snippet::{EncodedMember, Member, Operation, Snippet, SnippetError, Value};
use crate::typing::{Class, Hierarchy, Type};
use jvms::descriptor::{BaseType, FieldType, MethodDescriptor};
use jvms::modified_utf8;
use jvms::opcode;

/// An instruction and its replacement.
#[derive(Debug, Clone)]
pub(crate) struct Replacement {
    pub(crate) bci: u32,
    /// Bytes of the original instruction.
    pub(crate) length: u32,
    pub(crate) code: Snippet,
    /// Operand stack slots that it needs in addition to those of the original.
    pub(crate) stack: u32,
}

/// The method to change.
pub(crate) struct ChangedMethod<'t, 'm> {
    pub(crate) class: &'m ClassFile<'t>,
    pub(crate) method: &'m Method<'m, 't>,
    pub(crate) code: &'m Code<'m, 't>,
    pub(crate) known: &'m Hierarchy<'t>,
    pub(super) cache: MethodCache<'t>,
}

/// The operands of an instruction, bottom first, and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MemberEffect<'t> {
    pub(super) operands: Vec<FieldType<'t>>,
    /// The result; `None` for `void`.
    pub(super) result: Option<FieldType<'t>>,
}

impl MemberEffect<'_> {
    fn describe(&self) -> String {
        let types: Vec<String> = self.operands.iter().copied().map(describe).collect();
        format!("({}) -> {}", types.join(", "), describe_result(self.result))
    }
}

fn describe_result(found: Option<FieldType<'_>>) -> String {
    found.map_or_else(|| "void".to_owned(), describe)
}

fn describe(found: FieldType<'_>) -> String {
    match found {
        FieldType::Base(base) if base.is_int() => char::from(base.letter()).to_string(),
        found => Type::of(found).to_string(),
    }
}

impl<'t, 'm> ChangedMethod<'t, 'm> {
    pub(crate) fn new(
        class: &'m ClassFile<'t>,
        method: &'m Method<'m, 't>,
        code: &'m Code<'m, 't>,
        known: &'m Hierarchy<'t>,
    ) -> Self {
        ChangedMethod {
            class,
            method,
            code,
            known,
            cache: MethodCache::default(),
        }
    }
}

impl<'t> ChangedMethod<'t, '_> {
    /// Returns the replacements for a change of the instruction at `bci`, in bci order.
    pub(crate) fn resolve(
        &self,
        bci: Bci,
        change: &Change,
    ) -> Result<Vec<Replacement>, ChangeError> {
        let instruction = self.at(bci)?;
        let one = |code: Vec<Operation>, stack: u32| {
            Ok(vec![Replacement {
                bci: u32::from(bci.0),
                length: instruction.length(),
                code: Snippet::of(code),
                stack,
            }])
        };
        match change {
            Change::Call(target) => one(self.call(&instruction, target)?, 0),
            Change::Field { opcode, field } => {
                let (code, stack) = self.field(&instruction, *opcode, field)?;
                one(code, stack)
            }
            Change::Remove(value) => one(self.remove(&instruction, value.as_ref())?, 0),
            Change::New { class, cast } => self.new_object(&instruction, class, *cast),
            Change::Factory(method) => self.factory(&instruction, method),
            Change::Around(code) => Ok(vec![self.around(&instruction, code, None)?]),
        }
    }

    /// Returns the replacements for several changes of one instruction, the outermost first. Code around the instruction
    /// surrounds that of later changes, and all of it surrounds the first other change.
    pub(crate) fn resolve_all(
        &self,
        bci: Bci,
        changes: &[&Change],
    ) -> Result<Vec<Replacement>, ChangeError> {
        let (around, others): (Vec<&Change>, Vec<&Change>) = changes
            .iter()
            .partition(|change| matches!(change, Change::Around(_)));
        let mut made = match others.first() {
            None => Vec::new(),
            Some(change) => self.resolve(bci, change)?,
        };
        if made.len() > 1 && !around.is_empty() {
            let reason = "code can surround no instruction whose object another plugin replaces";
            return Err(ChangeError::NotHere(reason));
        }
        let instruction = self.at(bci)?;
        for change in around.into_iter().rev() {
            if let Change::Around(code) = change {
                made = vec![self.around(&instruction, code, made.first())?];
            }
        }
        Ok(made)
    }

    pub(super) fn at(&self, bci: Bci) -> Result<Instruction<'t>, ChangeError> {
        let missing = ChangeError::NotHere("no instruction begins at this bci");
        let found = Instructions::from(self.code.bytes(), usize::from(bci), 0).next();
        found.and_then(Result::ok).ok_or(missing)
    }

    pub(super) fn member(
        &self,
        instruction: &Instruction<'_>,
    ) -> Result<MemberRef<'t>, ChangeError> {
        let index = instruction.pool_index().unwrap_or(PoolIndex(0));
        let found = self.class.pool().member_ref(index);
        found.ok_or(ChangeError::NotHere("it names no member"))
    }

    /// Returns operands and result of a call or field access.
    pub(super) fn effect(
        &self,
        instruction: &Instruction<'_>,
    ) -> Result<MemberEffect<'t>, ChangeError> {
        let code = instruction.opcode;
        let unreadable = ChangeError::NotHere("its descriptor cannot be read");
        if code == opcode::INVOKEDYNAMIC {
            let index = instruction.pool_index().unwrap_or(PoolIndex(0));
            let site = self.class.pool().dynamic(index).ok_or(unreadable.clone())?;
            return method_effect(site.descriptor.as_bytes(), None).ok_or(unreadable);
        }
        let expected = "a call or field access";
        let found = instruction.mnemonic();
        if !matches!(code, opcode::GETSTATIC..=opcode::INVOKEINTERFACE) {
            return Err(ChangeError::OtherInstruction { expected, found });
        }
        let member = self.member(instruction)?;
        if member.name == "<init>" {
            let reason = "a constructor call belongs to its new: change the new";
            return Err(ChangeError::NotHere(reason));
        }
        effect_of(code, member.owner.as_bytes(), member.descriptor.as_bytes()).ok_or(unreadable)
    }

    fn fits(&self, found: FieldType<'_>, wanted: FieldType<'_>) -> bool {
        match (found, wanted) {
            (FieldType::Base(found), FieldType::Base(BaseType::Int)) => found.is_int(),
            (FieldType::Base(found), FieldType::Base(wanted)) => found == wanted,
            _ => self.known.fits(Type::of(found), Type::of(wanted)),
        }
    }

    /// Returns the code that converts a result of `found` to `wanted`: empty, or a cast from `Object`. `None` if it is
    /// impossible.
    fn convert(
        &self,
        found: Option<FieldType<'_>>,
        wanted: Option<FieldType<'_>>,
    ) -> Option<Option<Operation>> {
        let (found, wanted) = match (found, wanted) {
            (None, None) => return Some(None),
            (found, wanted) => (found?, wanted?),
        };
        if self.fits(found, wanted) {
            return Some(None);
        }
        let object = Type::of(found) == Type::Object(Class::OBJECT);
        let name = match wanted {
            FieldType::Class(name) | FieldType::Array(name) if object => name,
            _ => return None,
        };
        Some(Some(Operation::WithType(opcode::CHECKCAST, name.to_vec())))
    }

    /// Returns the call of `target` in place of an instruction with this effect.
    fn call_of(
        &self,
        effect: &MemberEffect<'t>,
        opcode: u8,
        member: EncodedMember,
    ) -> Result<Vec<Operation>, ChangeError> {
        let new_style = matches!(opcode, opcode::INVOKESTATIC | opcode::INVOKESPECIAL);
        if member.interface
            && new_style
            && self.class.major_version() < STATIC_INTERFACE_METHODS_SINCE
        {
            let reason = "class files before version 52 cannot call such a method of an interface";
            return Err(ChangeError::NotHere(reason));
        }
        let target = effect_of(opcode, &member.owner, &member.descriptor);
        let target = target.ok_or(ChangeError::NotHere("its descriptor cannot be read"))?;
        let operands = effect.operands.len() == target.operands.len()
            && effect
                .operands
                .iter()
                .zip(&target.operands)
                .all(|(found, wanted)| self.fits(*found, *wanted));
        let cast = self.convert(target.result, effect.result);
        let (true, Some(cast)) = (operands, cast) else {
            return Err(ChangeError::OtherTypes {
                expected: effect.describe(),
                found: target.describe(),
            });
        };
        let mut code = vec![Operation::Invoke(opcode, member)];
        code.extend(cast);
        Ok(code)
    }

    fn call(
        &self,
        instruction: &Instruction<'_>,
        target: &CallTarget,
    ) -> Result<Vec<Operation>, ChangeError> {
        let effect = self.effect(instruction)?;
        let member =
            EncodedMember::method(target.opcode, &target.method).map_err(ChangeError::BadTarget)?;
        if member.name == b"<init>" {
            let reason = "a constructor makes no call; change the new instead";
            return Err(ChangeError::NotHere(reason));
        }
        let special = target.opcode == opcode::INVOKESPECIAL;
        if special && instruction.opcode != opcode::INVOKESPECIAL {
            let reason = "invokespecial can replace only invokespecial";
            return Err(ChangeError::NotHere(reason));
        }
        let own = self.known.this == member.owner;
        if special && !own && !self.known.is_parent(&member.owner) {
            let reason = "invokespecial calls methods of the class itself or of its parents";
            return Err(ChangeError::NotHere(reason));
        }
        self.receiver_is_ready(instruction)?;
        self.call_of(&effect, target.opcode, member)
    }

    /// Checks a receiver in a constructor. The constructor may store to its fields before `super()`; the object can be
    /// no receiver or argument then.
    pub(super) fn receiver_is_ready(
        &self,
        instruction: &Instruction<'_>,
    ) -> Result<(), ChangeError> {
        if instruction.opcode != opcode::PUTFIELD || self.method.name() != "<init>" {
            return Ok(());
        }
        let own = [
            self.class.this_class(),
            self.class.super_class().unwrap_or_default(),
        ];
        let mut later = self
            .code
            .instructions()
            .map_while(Result::ok)
            .filter(|found| found.bci > instruction.bci && found.opcode == opcode::INVOKESPECIAL);
        let before = later.any(|found| {
            self.member(&found)
                .is_ok_and(|member| member.name == "<init>" && own.contains(&member.owner))
        });
        if before {
            let reason = "the object may not be initialized yet: super() comes later";
            return Err(ChangeError::NotHere(reason));
        }
        Ok(())
    }

    fn field(
        &self,
        instruction: &Instruction<'_>,
        opcode: u8,
        field: &Member,
    ) -> Result<(Vec<Operation>, u32), ChangeError> {
        use opcode::{GETFIELD, GETSTATIC, PUTFIELD, PUTSTATIC};
        let (expected, found) = ("a field access", instruction.mnemonic());
        if !matches!(instruction.opcode, GETSTATIC..=PUTFIELD) {
            return Err(ChangeError::OtherInstruction { expected, found });
        }
        let member = EncodedMember::field(opcode, field).map_err(ChangeError::BadTarget)?;
        let old = self.member(instruction)?;
        if old.descriptor.as_bytes() != member.descriptor {
            return Err(ChangeError::OtherTypes {
                expected: old.descriptor.to_str_lossless().into_owned(),
                found: field.descriptor.clone(),
            });
        }
        let wide = FieldType::parse(&member.descriptor).is_ok_and(|found| found.slots() == 2);
        let plain = |code: u8| Operation::Plain(code);
        let drop_receiver: &[u8] = match (instruction.opcode, opcode) {
            (GETSTATIC, GETSTATIC) | (PUTSTATIC, PUTSTATIC) => &[],
            (GETFIELD, GETFIELD) | (PUTFIELD, PUTFIELD) => {
                let owner = (
                    Class::named(old.owner.as_bytes()),
                    Class::named(&member.owner),
                );
                let fits = self
                    .known
                    .fits(Type::Object(owner.0), Type::Object(owner.1));
                if !fits {
                    return Err(ChangeError::OtherTypes {
                        expected: format!("a field of {}", old.owner),
                        found: format!("a field of {}", field.owner),
                    });
                }
                if owner.0 != owner.1 {
                    self.receiver_is_ready(instruction)?;
                }
                &[]
            }
            (GETFIELD, GETSTATIC) => &[opcode::POP],
            (PUTFIELD, PUTSTATIC) if wide => &[opcode::DUP2_X1, opcode::POP2, opcode::POP],
            (PUTFIELD, PUTSTATIC) => &[opcode::SWAP, opcode::POP],
            _ => {
                return Err(ChangeError::OtherInstruction {
                    expected: access(opcode),
                    found,
                });
            }
        };
        let mut code: Vec<Operation> = drop_receiver.iter().copied().map(plain).collect();
        // value (2), object, value (2): pops the upper value, then the object
        let stack = if drop_receiver.len() == 3 { 2 } else { 0 };
        code.push(Operation::Field(opcode, member));
        Ok((code, stack))
    }

    fn remove(
        &self,
        instruction: &Instruction<'_>,
        value: Option<&Constant>,
    ) -> Result<Vec<Operation>, ChangeError> {
        let effect = self.effect(instruction)?;
        let mut code = Vec::new();
        let mut single = false;
        for kind in effect.operands.iter().rev() {
            match (kind.slots(), single) {
                (2, _) => {
                    if std::mem::take(&mut single) {
                        code.push(Operation::Plain(opcode::POP));
                    }
                    code.push(Operation::Plain(opcode::POP2));
                }
                (_, true) => {
                    single = false;
                    code.push(Operation::Plain(opcode::POP2));
                }
                (_, false) => single = true,
            }
        }
        if single {
            code.push(Operation::Plain(opcode::POP));
        }
        let wrong = |found: String| ChangeError::OtherTypes {
            expected: format!("a value of type {}", describe_result(effect.result)),
            found,
        };
        let pushed = match (effect.result, value) {
            (None, None) => None,
            (Some(FieldType::Class(_) | FieldType::Array(_)), None) => {
                Some(Operation::Plain(opcode::ACONST_NULL))
            }
            (Some(FieldType::Base(base)), None) => Some(Operation::Push(zero(base))),
            (Some(FieldType::Base(base)), Some(Constant::Integer(value))) if base.is_int() => {
                if !fits_type(base, *value) {
                    return Err(wrong(value.to_string()));
                }
                Some(Operation::Push(Value::Int(*value)))
            }
            (Some(FieldType::Base(BaseType::Long)), Some(Constant::Long(value))) => {
                Some(Operation::Push(Value::Long(*value)))
            }
            (Some(FieldType::Base(BaseType::Float)), Some(Constant::Float(value))) => {
                Some(Operation::Push(Value::Float(value.to_bits())))
            }
            (Some(FieldType::Base(BaseType::Double)), Some(Constant::Double(value))) => {
                Some(Operation::Push(Value::Double(value.to_bits())))
            }
            (Some(wanted @ FieldType::Class(_)), Some(Constant::Text(text)))
                if self.fits(FieldType::Class(b"java/lang/String"), wanted) =>
            {
                let text = modified_utf8::encode(text);
                if text.len() > usize::from(u16::MAX) {
                    let length = text.len() as u64;
                    return Err(ChangeError::BadTarget(SnippetError::TextTooLong { length }));
                }
                Some(Operation::Push(Value::String(text)))
            }
            (_, value) => return Err(wrong(value.map_or_else(String::new, ToString::to_string))),
        };
        code.extend(pushed);
        if code.is_empty() {
            // Two stack map frames at one offset are not allowed.
            code.push(Operation::Plain(opcode::NOP));
        }
        Ok(code)
    }

    /// Returns the object created by a `new`.
    fn object(&self, instruction: &Instruction<'t>) -> Result<Object<'t>, ChangeError> {
        let (expected, found) = ("new", instruction.mnemonic());
        if instruction.opcode != opcode::NEW {
            return Err(ChangeError::OtherInstruction { expected, found });
        }
        follow(self.class, self.code, instruction)
    }

    fn new_object(
        &self,
        instruction: &Instruction<'t>,
        class: &str,
        cast: bool,
    ) -> Result<Vec<Replacement>, ChangeError> {
        let object = self.object(instruction)?;
        let mut found = Vec::new();
        for call in &object.calls {
            let target = Member {
                owner: class.to_owned(),
                name: "<init>".to_owned(),
                descriptor: call.descriptor.to_str_lossless().into_owned(),
                interface: false,
            };
            let member = EncodedMember::method(opcode::INVOKESPECIAL, &target);
            let member = member.map_err(ChangeError::BadTarget)?;
            let back = self.back_to_old(&member.owner, &object, cast)?;
            if found.is_empty() {
                let made = Operation::WithType(opcode::NEW, member.owner.clone());
                found.push(Replacement {
                    bci: u32::from(instruction.bci.0),
                    length: instruction.length(),
                    code: Snippet::of(vec![made]),
                    stack: 0,
                });
            }
            let call_and_cast = [Operation::Invoke(opcode::INVOKESPECIAL, member)];
            found.push(Replacement {
                bci: call.bci,
                length: call.length,
                code: Snippet::of(call_and_cast.into_iter().chain(back).collect()),
                stack: 0,
            });
        }
        Ok(found)
    }

    /// Returns the code after which the verifier accepts an object of `new` as one of the old class. Empty if the class
    /// file shows the subtype relation, or the object is unused.
    fn back_to_old(
        &self,
        new: &[u8],
        object: &Object<'_>,
        cast: bool,
    ) -> Result<Option<Operation>, ChangeError> {
        let wanted = object.class.as_bytes();
        let [found, old] = [new, wanted].map(|name| Type::Object(Class::named(name)));
        if object.dup.is_none() || self.known.fits(found, old) {
            return Ok(None);
        }
        if cast {
            let cast = Operation::WithType(opcode::CHECKCAST, wanted.to_vec());
            return Ok(Some(cast));
        }
        Err(ChangeError::NotShown {
            class: modified_utf8::Utf8::new(new).to_str_lossless().into_owned(),
            wanted: object.class.to_str_lossless().into_owned(),
        })
    }

    fn factory(
        &self,
        instruction: &Instruction<'t>,
        method: &Member,
    ) -> Result<Vec<Replacement>, ChangeError> {
        let object = self.object(instruction)?;
        let dup = object.dup.ok_or(ChangeError::NotHere(
            "no dup follows the new, so the use of the object is unknown",
        ))?;
        if is_named_by_a_frame(self.method, self.code, instruction.bci)? {
            let reason = "a stack map frame holds the object before its constructor call: the arguments branch";
            return Err(ChangeError::NotHere(reason));
        }
        let gone = |bci: u32, length: u32, code: Vec<Operation>| Replacement {
            bci,
            length,
            code: Snippet::of(code),
            stack: 0,
        };
        // A frame may belong to the `new` and another to the next instruction; the `dup` has no frame.
        let nop = vec![Operation::Plain(opcode::NOP)];
        let mut found = vec![
            gone(u32::from(instruction.bci.0), instruction.length(), nop),
            gone(dup, 1, Vec::new()),
        ];
        for call in &object.calls {
            let member = EncodedMember::method(opcode::INVOKESTATIC, method);
            let member = member.map_err(ChangeError::BadTarget)?;
            let mut effect = method_effect(call.descriptor.as_bytes(), None)
                .ok_or(ChangeError::NotHere("its descriptor cannot be read"))?;
            effect.result = Some(FieldType::Class(object.class.as_bytes()));
            found.push(Replacement {
                bci: call.bci,
                length: call.length,
                code: Snippet::of(self.call_of(&effect, opcode::INVOKESTATIC, member)?),
                stack: 0,
            });
        }
        Ok(found)
    }
}

fn access(opcode: u8) -> &'static str {
    match opcode {
        opcode::GETSTATIC => "getstatic or getfield",
        opcode::PUTSTATIC => "putstatic or putfield",
        opcode::GETFIELD => "getfield",
        _ => "putfield",
    }
}

/// Returns the zero of a primitive type.
fn zero(base: BaseType) -> Value {
    match base {
        BaseType::Long => Value::Long(0),
        BaseType::Float => Value::Float(0),
        BaseType::Double => Value::Double(0),
        _ => Value::Int(0),
    }
}

/// Checks whether an `int` is a value of a type that is an `int` on the operand stack.
fn fits_type(base: BaseType, value: i32) -> bool {
    match base {
        BaseType::Boolean => (0..=1).contains(&value),
        BaseType::Byte => i8::try_from(value).is_ok(),
        BaseType::Char => u16::try_from(value).is_ok(),
        BaseType::Short => i16::try_from(value).is_ok(),
        _ => true,
    }
}

/// Returns the type of a receiver.
fn owner_type(owner: &[u8]) -> FieldType<'_> {
    match owner.first() {
        Some(b'[') => FieldType::Array(owner),
        _ => FieldType::Class(owner),
    }
}

fn method_effect<'d>(
    descriptor: &'d [u8],
    receiver: Option<FieldType<'d>>,
) -> Option<MemberEffect<'d>> {
    let found = MethodDescriptor::parse(descriptor).ok()?;
    Some(MemberEffect {
        operands: receiver.into_iter().chain(found.parameters()).collect(),
        result: found.return_type(),
    })
}

fn effect_of<'d>(opcode: u8, owner: &'d [u8], descriptor: &'d [u8]) -> Option<MemberEffect<'d>> {
    let owner = owner_type(owner);
    let value = || FieldType::parse(descriptor).ok();
    let (operands, result) = match opcode {
        opcode::GETSTATIC => (Vec::new(), Some(value()?)),
        opcode::GETFIELD => (vec![owner], Some(value()?)),
        opcode::PUTSTATIC => (vec![value()?], None),
        opcode::PUTFIELD => (vec![owner, value()?], None),
        opcode::INVOKESTATIC => return method_effect(descriptor, None),
        _ => return method_effect(descriptor, Some(owner)),
    };
    Some(MemberEffect { operands, result })
}
