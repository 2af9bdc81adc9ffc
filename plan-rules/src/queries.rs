//! Finds instructions of a class by the names in their operands.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use edits::{InsertionPoint, InstructionKind, Location, Member};
use globs::{Glob, Pattern};
use jvms::modified_utf8::Utf8;
use jvms::opcode;
use rewriter::{
    Bci, ClassFile, Code, Instruction, MemberRef, Method, MethodIndex, PoolIndex, ReadError,
};

use crate::declared::{AnswerBudget, TooLarge};
use crate::refusal::RefusedRequest;
use crate::transformation::Transformation;

/// An instruction that matches a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionMatch {
    /// Its method.
    pub method: MethodIndex,
    /// Its bci.
    pub bci: Bci,
    /// Its line; 0 if unknown.
    pub line: u16,
    /// Its opcode.
    pub opcode: u8,
    /// The name in its operand: a member; only the owner for an allocation; only the name for a string.
    pub target: Member,
}

impl InstructionMatch {
    /// Returns the point of the instruction itself.
    #[must_use]
    pub fn at(&self) -> InsertionPoint {
        InsertionPoint {
            method: self.method,
            location: Location::At(self.bci),
        }
    }
}

/// An `invokedynamic` (JVMS 4.7.23); its target is the bootstrap method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicMatch {
    /// The instruction.
    pub at: InstructionMatch,
    /// The name passed to the bootstrap method.
    pub name: String,
    /// The descriptor of the call.
    pub descriptor: String,
    /// The first method among the bootstrap method's static arguments.
    pub implementation: Option<Member>,
}

type Answer<T> = Result<T, RefusedRequest>;

const MONITORS: [u8; 2] = [opcode::MONITORENTER, opcode::MONITOREXIT];

/// Finds instructions of a kind that match a pattern, in all methods or in one, in code order.
///
/// # Errors
/// The pattern is invalid, the code cannot be decoded, or the answer is too large.
pub fn find(
    of: &mut Transformation,
    kind: InstructionKind,
    method: Option<u16>,
    pattern: &str,
) -> Answer<Vec<InstructionMatch>> {
    let (calls, fields) = (
        opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE,
        opcode::GETSTATIC..=opcode::PUTFIELD,
    );
    match kind {
        InstructionKind::Call => members(of, method, pattern, calls),
        InstructionKind::Field => members(of, method, pattern, fields),
        InstructionKind::Allocation => allocations(of, method, pattern),
        InstructionKind::String => strings(of, method, pattern),
        InstructionKind::Recipe => recipes(of, method, pattern),
        InstructionKind::Monitor => unnamed(of, method, pattern, &MONITORS),
        InstructionKind::Throw => unnamed(of, method, pattern, &[opcode::ATHROW]),
        InstructionKind::Catch => catches(of, method, pattern),
    }
}

fn members(
    of: &mut Transformation,
    method: Option<u16>,
    pattern: &str,
    opcodes: std::ops::RangeInclusive<u8>,
) -> Answer<Vec<InstructionMatch>> {
    let pattern = parse(of, pattern)?;
    // Many instructions name the same member.
    let mut known = HashMap::new();
    let found = search(of, method, |class, instruction| {
        if !opcodes.contains(&instruction.opcode) {
            return None;
        }
        let index = instruction.pool_index()?;
        let target = class.pool().member_ref(index)?;
        let wanted = *known
            .entry(index.0)
            .or_insert_with(|| names(&pattern, &target));
        wanted.then(|| (member(target), ()))
    })?;
    Ok(places(found))
}

/// Finds instructions without a name in their operands, so that no pattern applies.
fn unnamed(
    of: &mut Transformation,
    method: Option<u16>,
    pattern: &str,
    opcodes: &[u8],
) -> Answer<Vec<InstructionMatch>> {
    if pattern != "**" {
        let pattern: String = pattern.chars().take(80).collect();
        let cause =
            format!("expected the pattern `**` for instructions without a name, found `{pattern}`");
        return Err(of.refuse_unsuitable(&cause));
    }
    let found = search(of, method, |_, instruction| {
        let is_one = opcodes.contains(&instruction.opcode);
        is_one.then(|| (Member::default(), ()))
    })?;
    Ok(places(found))
}

/// Finds the first instructions of handlers, once for each caught type.
fn catches(
    of: &mut Transformation,
    method: Option<u16>,
    pattern: &str,
) -> Answer<Vec<InstructionMatch>> {
    let pattern = Glob::of_class(pattern);
    // Only the matches in the searched method become texts.
    let mut handlers: Vec<(Bci, PoolIndex)> = Vec::new();
    let mut known: HashMap<u16, bool> = HashMap::new();
    let mut budget = AnswerBudget::new();
    let found = search_all(of, method, |class, code, instruction, out| {
        let caught = |index| {
            class
                .pool()
                .class_name(index)
                .map_or_else(String::new, text)
        };
        if instruction.bci == Bci(0) {
            let all = code.exception_table().map(|it| (it.handler, it.catch_type));
            let wanted = all.filter(|(_, index)| {
                let wanted = || pattern.matches(caught(*index));
                *known.entry(index.0).or_insert_with(wanted)
            });
            handlers = wanted.collect();
            handlers.sort_by_key(|(at, index)| (*at, index.0));
            handlers.dedup();
        }
        let before = handlers.partition_point(|(at, _)| *at < instruction.bci);
        let here = handlers.iter().skip(before);
        let here = here.take_while(|(at, _)| *at == instruction.bci);
        for (_, index) in here {
            let owner = caught(*index);
            budget.take(owner.len())?;
            let target = Member {
                owner,
                ..Member::default()
            };
            out.push((target, ()));
        }
        Ok(())
    })?;
    Ok(places(found))
}

fn allocations(
    of: &mut Transformation,
    method: Option<u16>,
    pattern: &str,
) -> Answer<Vec<InstructionMatch>> {
    let pattern = Glob::of_class(pattern);
    let found = search(of, method, |class, instruction| {
        let named = || class.pool().class_name(instruction.pool_index()?);
        let made = match instruction.opcode {
            opcode::NEW | opcode::MULTIANEWARRAY => text(named()?),
            opcode::ANEWARRAY => {
                let element = text(named()?);
                match element.starts_with('[') {
                    true => format!("[{element}"),
                    false => format!("[L{element};"),
                }
            }
            opcode::NEWARRAY => {
                // JVMS table 6.5.newarray-A
                let kind = usize::try_from(instruction.immediate()?).ok()?;
                let kinds = ["[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J"];
                (*kinds.get(kind.checked_sub(4)?)?).to_owned()
            }
            _ => return None,
        };
        pattern.matches(&made).then(|| {
            let owner = made;
            let target = Member {
                owner,
                ..Member::default()
            };
            (target, ())
        })
    })?;
    Ok(places(found))
}

fn strings(
    of: &mut Transformation,
    method: Option<u16>,
    pattern: &str,
) -> Answer<Vec<InstructionMatch>> {
    let pattern = Glob::of_text(pattern);
    let found = search(of, method, |class, instruction| {
        if !matches!(instruction.opcode, opcode::LDC | opcode::LDC_W) {
            return None;
        }
        let found = class.pool().string(instruction.pool_index()?)?;
        pattern.matches(found.as_bytes()).then(|| {
            let name = text(found);
            let target = Member {
                name,
                ..Member::default()
            };
            (target, ())
        })
    })?;
    Ok(places(found))
}

/// The bootstrap method of string concatenations with constant parts (JDK, `StringConcatFactory`). Its first static
/// argument is the recipe: text, with these characters in place of arguments and further constants.
const CONCATENATION: (&str, &str) = (
    "java/lang/invoke/StringConcatFactory",
    "makeConcatWithConstants",
);
const ARGUMENT: char = '\u{1}';
const CONSTANT: char = '\u{2}';

fn recipes(
    of: &mut Transformation,
    method: Option<u16>,
    pattern: &str,
) -> Answer<Vec<InstructionMatch>> {
    let pattern = Glob::of_text(pattern);
    let mut entries: Option<Vec<Bootstrap>> = None;
    // The matching parts for each bootstrap method.
    let mut known: HashMap<u16, Vec<String>> = HashMap::new();
    let mut budget = AnswerBudget::new();
    let found = search_all(of, method, |class, _, instruction, out| {
        let index = instruction.pool_index();
        let call = index.and_then(|index| class.pool().dynamic(index));
        let Some(call) = call.filter(|_| instruction.opcode == opcode::INVOKEDYNAMIC) else {
            return Ok(());
        };
        if let Entry::Vacant(place) = known.entry(call.bootstrap) {
            let entries = entries.get_or_insert_with(|| {
                let all = class.bootstrap_methods();
                all.map(|it| (it.method_handle, it.arguments().collect()))
                    .collect()
            });
            let entry = entries.get(usize::from(call.bootstrap));
            let whole = match entry {
                Some(entry) => recipe(class, entry, &mut budget)?,
                None => String::new(),
            };
            let parts = whole.split(ARGUMENT).filter(|part| !part.is_empty());
            let parts = parts.filter(|part| pattern.matches(part));
            place.insert(parts.map(str::to_owned).collect());
        }
        let parts = known.get(&call.bootstrap).into_iter().flatten();
        out.extend(parts.cloned().map(|name| {
            let target = Member {
                name,
                ..Member::default()
            };
            (target, ())
        }));
        Ok(())
    })?;
    Ok(places(found))
}

/// A bootstrap method, and its static arguments.
type Bootstrap = (PoolIndex, Vec<PoolIndex>);

/// Returns the parts of a concatenation, with [`ARGUMENT`] for values known only at run time. Empty for another
/// bootstrap method.
fn recipe(
    class: &ClassFile<'_>,
    (method, arguments): &Bootstrap,
    budget: &mut AnswerBudget,
) -> Result<String, TooLarge> {
    let pool = class.pool();
    let handle = pool.method_handle(*method);
    let is_it = handle
        .is_some_and(|it| it.member.owner == CONCATENATION.0 && it.member.name == CONCATENATION.1);
    let mut arguments = arguments.iter().filter(|_| is_it);
    let Some(recipe) = arguments.next().and_then(|index| pool.string(*index)) else {
        return Ok(String::new());
    };
    budget.take(recipe.as_bytes().len())?;
    let mut whole = String::new();
    for letter in recipe.to_str_lossless().chars() {
        // Constants that are no strings are converted at run time.
        let constant = match letter {
            CONSTANT => arguments.next().map(|index| pool.string(*index)),
            _ => None,
        };
        match constant {
            Some(Some(found)) => {
                budget.take(found.as_bytes().len())?;
                whole += &found.to_str_lossless();
            }
            Some(None) => whole.push(ARGUMENT),
            None => whole.push(letter),
        }
    }
    Ok(whole)
}

/// Finds `invokedynamic` instructions whose bootstrap method matches a pattern.
///
/// # Errors
/// As [`find`].
pub fn dynamic_calls(
    of: &mut Transformation,
    method: Option<u16>,
    pattern: &str,
) -> Answer<Vec<DynamicMatch>> {
    let pattern = parse(of, pattern)?;
    let mut entries = None;
    let found = search(of, method, |class, instruction| {
        if instruction.opcode != opcode::INVOKEDYNAMIC {
            return None;
        }
        let pool = class.pool();
        let call = pool.dynamic(instruction.pool_index()?)?;
        let entries = entries.get_or_insert_with(|| bootstrap_methods(class));
        let (handle, first) = *entries.get(usize::from(call.bootstrap))?;
        let bootstrap = pool.method_handle(handle)?.member;
        let implementation = || pool.method_handle(first?).map(|found| member(found.member));
        names(&pattern, &bootstrap).then(|| {
            let own = Member {
                name: text(call.name),
                descriptor: text(call.descriptor),
                ..Member::default()
            };
            (member(bootstrap), (own, implementation()))
        })
    })?;
    let found = found
        .into_iter()
        .map(|(at, (own, implementation))| DynamicMatch {
            at,
            name: own.name,
            descriptor: own.descriptor,
            implementation,
        });
    Ok(found.collect())
}

/// Returns the bootstrap methods, and the first method handle among the static arguments of each.
fn bootstrap_methods(class: &ClassFile<'_>) -> Vec<(PoolIndex, Option<PoolIndex>)> {
    let is_handle = |index: &PoolIndex| class.pool().method_handle(*index).is_some();
    let entries = class.bootstrap_methods();
    let entry = entries.map(|entry| (entry.method_handle, entry.arguments().find(is_handle)));
    entry.collect()
}

/// Finds the backward jumps of a method, in order.
///
/// # Errors
/// The code cannot be decoded.
pub fn loops(of: &mut Transformation, method: u16) -> Answer<Vec<InsertionPoint>> {
    let index = MethodIndex(method);
    of.look_at(index);
    let found = of
        .class()
        .method(MethodIndex(method))
        .map_or(Ok(None), |method| {
            let Some(code) = method.code()? else {
                return Ok(None);
            };
            code.visit_opcodes(|_, _| {})?;
            Ok(Some(code.loops()))
        });
    match found {
        Ok(loops) => {
            let point = |(source, target)| InsertionPoint {
                method: index,
                location: Location::Jump { source, target },
            };
            Ok(loops.unwrap_or_default().into_iter().map(point).collect())
        }
        Err(error) => Err(undecodable(of, &error)),
    }
}

fn undecodable(of: &mut Transformation, error: &ReadError) -> RefusedRequest {
    of.refuse(RefusedRequest::undecodable(error))
}

fn parse(of: &mut Transformation, pattern: &str) -> Answer<Pattern> {
    Pattern::parse(pattern).map_err(|error| of.refuse_unsuitable(&error))
}

fn names(pattern: &Pattern, member: &MemberRef<'_>) -> bool {
    let [owner, name, descriptor] =
        [member.owner, member.name, member.descriptor].map(Utf8::to_str_lossless);
    pattern.matches_class(&owner) && pattern.matches_method(&name, &descriptor)
}

/// Returns the names of a member.
#[must_use]
pub fn member(member: MemberRef<'_>) -> Member {
    Member {
        owner: text(member.owner),
        name: text(member.name),
        descriptor: text(member.descriptor),
        interface: member.interface,
    }
}

fn text(utf8: Utf8<'_>) -> String {
    utf8.to_str_lossless().into_owned()
}

/// Bytes of text that an item takes in an answer.
trait Texts {
    fn bytes(&self) -> usize;
}

impl Texts for () {
    fn bytes(&self) -> usize {
        0
    }
}

impl Texts for Member {
    fn bytes(&self) -> usize {
        self.owner.len() + self.name.len() + self.descriptor.len()
    }
}

impl Texts for (Member, Option<Member>) {
    fn bytes(&self) -> usize {
        self.0.bytes() + self.1.as_ref().map_or(0, Texts::bytes)
    }
}

/// The reason for the end of a search.
enum Ended {
    Undecodable(MethodIndex, ReadError),
    TooLarge,
}

/// Finds the instructions for which `wanted` returns a name and an extra value.
fn search<T: Texts>(
    of: &mut Transformation,
    only: Option<u16>,
    mut wanted: impl for<'c> FnMut(&'c ClassFile<'c>, &Instruction<'_>) -> Option<(Member, T)>,
) -> Answer<Vec<(InstructionMatch, T)>> {
    search_all(of, only, |class, _, instruction, out| {
        out.extend(wanted(class, instruction));
        Ok(())
    })
}

/// Does the same for instructions with several names, which `wanted` appends.
fn search_all<T: Texts>(
    of: &mut Transformation,
    only: Option<u16>,
    mut wanted: impl for<'c> FnMut(
        &'c ClassFile<'c>,
        &Code<'_, '_>,
        &Instruction<'_>,
        &mut Vec<(Member, T)>,
    ) -> Result<(), TooLarge>,
) -> Answer<Vec<(InstructionMatch, T)>> {
    let class = of.class();
    let (mut found, mut named) = (Vec::new(), Vec::new());
    let mut budget = AnswerBudget::new();
    let is_asked = |method: &Method<'_, '_>| only.is_none_or(|only| only == method.index().0);
    let searched = class.methods().filter(is_asked).try_for_each(|method| {
        let undecodable = |error| Ended::Undecodable(method.index(), error);
        let Some(code) = method.code().map_err(undecodable)? else {
            return Ok(());
        };
        let first = found.len();
        for instruction in code.instructions() {
            let instruction = instruction.map_err(undecodable)?;
            wanted(class, &code, &instruction, &mut named).map_err(|_| Ended::TooLarge)?;
            for (target, more) in named.drain(..) {
                let taken = budget.take(target.bytes() + more.bytes());
                taken.map_err(|_| Ended::TooLarge)?;
                let place = InstructionMatch {
                    method: method.index(),
                    bci: instruction.bci,
                    line: 0,
                    opcode: instruction.opcode,
                    target,
                };
                found.push((place, more));
            }
        }
        add_lines(&code, found.get_mut(first..).unwrap_or_default());
        Ok(())
    });
    match searched {
        Ok(()) => Ok(found),
        Err(Ended::Undecodable(method, error)) => {
            of.look_at(method);
            Err(undecodable(of, &error))
        }
        Err(Ended::TooLarge) => {
            let help = Some("search method by method, or with a narrower pattern");
            let refused = RefusedRequest::limit(TooLarge.to_string(), help);
            Err(of.refuse(refused))
        }
    }
}

/// Drops the empty extra values.
fn places(found: Vec<(InstructionMatch, ())>) -> Vec<InstructionMatch> {
    found.into_iter().map(|(found, ())| found).collect()
}

/// Adds lines: the line of an instruction is that of the last entry at or before it.
fn add_lines<T>(code: &Code<'_, '_>, found: &mut [(InstructionMatch, T)]) {
    if found.is_empty() {
        return;
    }
    let mut lines: Vec<_> = code.lines().map(|line| (line.bci, line.number)).collect();
    lines.sort_by_key(|(bci, _)| *bci);
    for (place, _) in found {
        let behind = lines.partition_point(|(bci, _)| *bci <= place.bci);
        let before = behind.checked_sub(1).and_then(|last| lines.get(last));
        place.line = before.map_or(0, |(_, number)| *number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::CheckedClass;

    const DECLARED: &[u8] =
        include_bytes!("../../rewriter/tests/fixtures/release25/Declared.class");

    fn declared() -> Transformation {
        Transformation::new(CheckedClass::read(DECLARED, false).expect("a class"))
    }

    fn parse_index(of: &Transformation) -> u16 {
        let mut methods = of.class().methods();
        let found = methods.find(|method| method.name() == "parse");
        found.expect("it is there").index().0
    }

    #[test]
    fn members_types_texts_and_dynamic_calls_are_found_with_their_lines() {
        let mut of = declared();
        let mut found = |kind: InstructionKind, pattern: &str| {
            let found = find(&mut of, kind, None, pattern)
                .expect("found")
                .into_iter();
            let said = |found: InstructionMatch| {
                let Member { owner, name, .. } = found.target;
                (format!("{owner}.{name}"), found.line, found.opcode)
            };
            found.map(said).collect::<Vec<_>>()
        };
        let named =
            |owner: &str, name: &str, line, opcode| (format!("{owner}.{name}"), line, opcode);
        let integer = "java/lang/Integer";
        let calls = [
            named(integer, "parseInt", 55, opcode::INVOKESTATIC),
            named(integer, "valueOf", 64, opcode::INVOKESTATIC),
            named(integer, "intValue", 64, opcode::INVOKEVIRTUAL),
        ];
        assert_eq!(found(InstructionKind::Call, "java.lang.Integer.*"), calls);
        let one = "java.lang.Integer.parseInt(Ljava.lang.String;)I";
        assert_eq!(found(InstructionKind::Call, one), calls[..1]);
        let fields = [opcode::GETFIELD, opcode::PUTFIELD];
        let fields = fields.map(|opcode| named("Declared", "count", 55, opcode));
        assert_eq!(found(InstructionKind::Field, "Declared.count"), fields);
        let made = [
            named("java/lang/Object", "", 52, opcode::NEW),
            named("[Ljava/lang/String;", "", 59, opcode::ANEWARRAY),
            named("Declared$1", "", 60, opcode::NEW),
        ];
        assert_eq!(found(InstructionKind::Allocation, "**"), made);
        let texts = ["select 1", "select 2"].map(|text| named("", text, 59, opcode::LDC));
        assert_eq!(found(InstructionKind::String, "select *"), texts);
        let made = [named("", "made of ", 58, opcode::INVOKEDYNAMIC)];
        assert_eq!(found(InstructionKind::Recipe, "made of *"), made);
        assert_eq!(found(InstructionKind::Recipe, "made of"), []);
        assert_eq!(found(InstructionKind::String, "made of *"), []);
        let found = dynamic_calls(&mut of, None, "java.lang.invoke.LambdaMetafactory.*");
        let found = found.expect("found");
        let [lambda] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!((lambda.at.line, lambda.name.as_str()), (58, "get"));
        assert_eq!(lambda.at.target.name, "metafactory");
        let runs = lambda.implementation.as_ref().map(|it| it.name.as_str());
        assert_eq!(runs, Some("lambda$parse$0"));
        assert_eq!(dynamic_calls(&mut of, None, "**").expect("found").len(), 2);
    }

    #[test]
    fn monitors_throws_and_handlers_are_found() {
        let shapes = include_bytes!("../../rewriter/tests/fixtures/release25/Shapes.class");
        let mut of = Transformation::new(CheckedClass::read(shapes, false).expect("a class"));
        let mut found = |kind: InstructionKind, pattern: &str| {
            let found = find(&mut of, kind, None, pattern).expect("found");
            let said = |found: InstructionMatch| (found.opcode, found.target.owner);
            found.into_iter().map(said).collect::<Vec<_>>()
        };
        let monitors = found(InstructionKind::Monitor, "**");
        let entered = monitors
            .iter()
            .filter(|(it, _)| *it == opcode::MONITORENTER);
        let left = monitors.iter().filter(|(it, _)| *it == opcode::MONITOREXIT);
        // Each region ends once normally and once by an exception.
        assert_eq!((entered.count() * 2, left.count()), (2, 2), "{monitors:?}");
        let thrown = found(InstructionKind::Throw, "**");
        assert!(!thrown.is_empty() && thrown.iter().all(|(it, _)| *it == opcode::ATHROW));
        let caught = found(InstructionKind::Catch, "java.lang.*Exception");
        let is_named = |(_, owner): &(u8, String)| {
            owner.starts_with("java/lang/") && owner.ends_with("Exception")
        };
        assert!(
            !caught.is_empty() && caught.iter().all(is_named),
            "{caught:?}"
        );
        let all = found(InstructionKind::Catch, "**");
        assert!(
            all.len() > caught.len() && all.iter().any(|(_, owner)| owner.is_empty()),
            "{all:?}"
        );
    }

    #[test]
    fn single_method_is_searched_and_missing_ones_have_no_matches() {
        let mut of = declared();
        let parse = parse_index(&of);
        let all = find(&mut of, InstructionKind::Call, None, "**").expect("found");
        let alone = find(&mut of, InstructionKind::Call, Some(parse), "**").expect("found");
        assert!(alone.iter().all(|found| found.method.0 == parse));
        assert!(!alone.is_empty() && alone.len() < all.len());
        assert_eq!(
            find(&mut of, InstructionKind::Call, Some(999), "**"),
            Ok(Vec::new())
        );
        assert_eq!(loops(&mut of, 999), Ok(Vec::new()));
        let loops = loops(&mut of, parse).expect("found");
        assert_eq!(loops.len(), 1, "{loops:?}");
        let is_backward = |point: &InsertionPoint| matches!(point.location, Location::Jump { source, target } if target < source);
        assert!(loops.iter().all(is_backward));
        for (kind, pattern, cause) in [
            (InstructionKind::Call, "", "names nothing"),
            (
                InstructionKind::Monitor,
                "java.lang.Object",
                "expected the pattern `**`",
            ),
        ] {
            let refused = find(&mut of, kind, None, pattern).expect_err("refused");
            assert_eq!(refused.code, "H0317");
            assert!(refused.message.contains(cause), "{refused:?}");
        }
    }
}
