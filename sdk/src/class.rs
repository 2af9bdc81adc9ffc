//! The view of the class that is being loaded.
//!
//! Each accessor is one call of the host, which returns a whole list. Call it once and keep the
//! result.

use std::cell::OnceCell;
use std::ops::Deref;

use jvms::access_flags::ACC_SYNTHETIC;
use jvms::descriptor::FieldType;
use jvms::opcode;

use crate::declared::{self, DeclaredAnnotation};
use crate::error;
use crate::numbers::{CodeView, RawCode};
use crate::queries;
use crate::raw;
use crate::source::{ClassSource, MethodSource};
use crate::wit::{
    self, Annotated, Component, DynamicFound, Enclosing, FieldSummary, Handler, InnerClass,
    Instruction, Line, MethodSummary, Parameter,
};
use edits::{Bci, InsertionPoint, InstructionKind, Location, Member, MethodIndex, Refusal};

/// The class that is being loaded.
pub struct Class<'a> {
    source: &'a dyn ClassSource,
}

impl<'a> Class<'a> {
    /// Creates a view of `source`.
    #[must_use]
    pub fn new(source: &'a dyn ClassSource) -> Self {
        Self { source }
    }

    /// Internal name (JVMS 4.2.1), `java/util/List`.
    #[must_use]
    pub fn name(&self) -> String {
        self.source.name()
    }

    /// The name with dots, as in Java: `java.util.List`, `java.util.Map$Entry`.
    #[must_use]
    pub fn dotted_name(&self) -> String {
        self.name().replace('/', ".")
    }

    /// Internal name of the direct superclass; `None` for `java/lang/Object` and modules.
    #[must_use]
    pub fn super_name(&self) -> Option<String> {
        self.source.super_name()
    }

    /// Internal names of the direct superinterfaces, in order.
    #[must_use]
    pub fn interfaces(&self) -> Vec<String> {
        self.source.interfaces()
    }

    /// The access flags (JVMS table 4.1-B).
    #[must_use]
    pub fn access_flags(&self) -> u16 {
        self.source.access_flags()
    }

    /// Major version of the class file (JVMS 4.1), 52 for Java 8.
    #[must_use]
    pub fn major_version(&self) -> u16 {
        self.source.major_version()
    }

    /// The `SourceFile` attribute (JVMS 4.7.10).
    #[must_use]
    pub fn source_file(&self) -> Option<String> {
        self.source.source_file()
    }

    /// `boot`, `platform`, `app`, or the class name of the loader.
    #[must_use]
    pub fn loader(&self) -> String {
        self.source.loader()
    }

    /// CRC-64 of the bytes of the first load (JaCoCo's class id), if known.
    #[must_use]
    pub fn fingerprint(&self) -> Option<u64> {
        self.source.fingerprint()
    }

    /// `true` if the class is already loaded, so that its shape must not change.
    #[must_use]
    pub fn is_retransforming(&self) -> bool {
        self.source.retransforming()
    }

    /// Descriptors of the class's annotations, visible at run time or not.
    #[must_use]
    pub fn annotations(&self) -> Vec<String> {
        self.source.annotations()
    }

    /// All fields in the order of the class file.
    #[must_use]
    pub fn fields(&self) -> Vec<FieldSummary> {
        self.source.fields()
    }

    /// Contents of the first class attribute with this name (JVMS 4.7), such as `InnerClasses` or
    /// `Record`. [`Class::pool_text`] resolves constant pool indices in it.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<Vec<u8>> {
        self.source.attribute(name)
    }

    /// The class file (capability `raw`), as the basis for [`crate::Plan::replace_class`].
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        raw::bytes(self.source)
    }

    /// The text of a `CONSTANT_Utf8` entry of the constant pool (JVMS 4.4.7), or the name in a
    /// class entry.
    #[must_use]
    pub fn pool_text(&self, pool_index: u16) -> Option<String> {
        self.source.pool_text(pool_index)
    }

    /// The annotations of these interfaces in the class, with their values and targets. Interfaces
    /// are given as field descriptors; an empty list means all. Type annotations (JVMS 4.7.20) are
    /// not included.
    #[must_use]
    pub fn annotations_of(&self, kinds: &[&str]) -> Vec<DeclaredAnnotation> {
        declared::annotations(self.source, kinds)
    }

    /// The entries of `InnerClasses` (JVMS 4.7.6).
    #[must_use]
    pub fn inner_classes(&self) -> Vec<InnerClass> {
        declared::inner_classes(self.source)
    }

    /// The class and method that enclose a local or anonymous class (JVMS 4.7.7).
    #[must_use]
    pub fn enclosing_method(&self) -> Option<Enclosing> {
        declared::enclosing_method(self.source)
    }

    /// The components of a record (JVMS 4.7.30); `None` if the class is no record.
    #[must_use]
    pub fn components(&self) -> Option<Vec<Component>> {
        declared::components(self.source)
    }

    /// The classes that may extend a sealed class (JVMS 4.7.31); empty if it is not sealed.
    #[must_use]
    pub fn permitted_subclasses(&self) -> Vec<String> {
        declared::listed_classes(self.source, "PermittedSubclasses", None)
    }

    /// The nest host of the class (JVMS 4.7.28); `None` if the class is the host itself.
    #[must_use]
    pub fn nest_host(&self) -> Option<String> {
        let host = declared::listed_classes(self.source, "NestHost", None);
        host.into_iter().next()
    }

    /// The other classes of the nest, if the class is its host (JVMS 4.7.29).
    #[must_use]
    pub fn nest_members(&self) -> Vec<String> {
        declared::listed_classes(self.source, "NestMembers", None)
    }

    /// Finds the calls of methods whose names match a pattern, such as
    /// `java.sql.Statement.execute*`, in all methods of the class. Calls by `invokedynamic` are not
    /// included. [`wit::Found::before`] and [`wit::Found::instruction`] are the points of the
    /// results.
    ///
    /// # Errors
    /// If the pattern is invalid, or a code array cannot be decoded.
    pub fn calls(&self, pattern: &str) -> Result<Vec<wit::Found>, Refusal> {
        queries::find(self.source, InstructionKind::Call, None, pattern)
    }

    /// Finds the accesses to fields whose names match a pattern, such as `com.acme.Account.*`.
    ///
    /// # Errors
    /// Those of [`Class::calls`].
    pub fn field_accesses(&self, pattern: &str) -> Result<Vec<wit::Found>, Refusal> {
        queries::find(self.source, InstructionKind::Field, None, pattern)
    }

    /// Finds `monitorenter` and `monitorexit` in all methods of the class.
    ///
    /// # Errors
    /// If a code array cannot be decoded.
    pub fn monitors(&self) -> Result<Vec<wit::Found>, Refusal> {
        queries::find(self.source, InstructionKind::Monitor, None, "**")
    }

    /// Finds `athrow` in all methods of the class.
    ///
    /// # Errors
    /// Those of [`Class::monitors`].
    pub fn throws(&self) -> Result<Vec<wit::Found>, Refusal> {
        queries::find(self.source, InstructionKind::Throw, None, "**")
    }

    /// Finds the handlers of exceptions whose types match a pattern, such as
    /// `java.lang.*Exception`. The result is the first instruction of each handler, once for each
    /// type that it catches; the type is the owner of the target. A handler of every type, such as
    /// `finally`, has an empty owner, and only `**` finds it.
    ///
    /// # Errors
    /// Those of [`Class::calls`].
    pub fn catches(&self, pattern: &str) -> Result<Vec<wit::Found>, Refusal> {
        queries::find(self.source, InstructionKind::Catch, None, pattern)
    }

    /// Finds the instructions that create objects and arrays whose types match a pattern over
    /// internal names and descriptors of array types. The type is the owner of the target.
    ///
    /// # Errors
    /// Those of [`Class::calls`].
    pub fn allocations(&self, pattern: &str) -> Result<Vec<wit::Found>, Refusal> {
        queries::find(self.source, InstructionKind::Allocation, None, pattern)
    }

    /// Finds string constants whose text matches a pattern, such as `select *`. Includes string
    /// concatenations with such a constant, whose opcode is `invokedynamic`. The text is the name
    /// of the target.
    ///
    /// # Errors
    /// Those of [`Class::calls`].
    pub fn strings(&self, pattern: &str) -> Result<Vec<wit::Found>, Refusal> {
        let mut found = queries::find(self.source, InstructionKind::String, None, pattern)?;
        found.extend(queries::find(
            self.source,
            InstructionKind::Recipe,
            None,
            pattern,
        )?);
        found.sort_by_key(|found| (found.method(), found.bci()));
        Ok(found)
    }

    /// Finds `invokedynamic` instructions whose bootstrap method matches a pattern, such as
    /// `java.lang.invoke.LambdaMetafactory.*`.
    ///
    /// # Errors
    /// Those of [`Class::calls`].
    pub fn dynamic_calls(&self, pattern: &str) -> Result<Vec<DynamicFound>, Refusal> {
        queries::dynamic_calls(self.source, None, pattern)
    }

    /// All methods in the order of the class file, with names.
    pub fn methods(&self) -> impl Iterator<Item = Method<'a>> + use<'a> {
        let source = self.source;
        source.methods().into_iter().map(move |summary| Method {
            summary,
            class: source,
            view: OnceCell::new(),
        })
    }

    /// The methods with code, without names; cheaper than [`Class::methods`].
    pub fn methods_with_code(&self) -> impl Iterator<Item = MethodView<'a>> + use<'a> {
        let source = self.source;
        source
            .methods_with_code()
            .into_iter()
            .filter_map(move |index| {
                let inner = source.method(index)?;
                Some(MethodView {
                    index,
                    class: source,
                    inner,
                })
            })
    }

    /// Passes the code of each method with code to `visit`. Needs few calls of the host, whatever
    /// the number of methods.
    ///
    /// # Errors
    /// If a code array cannot be decoded, and those of `visit`.
    #[track_caller]
    pub fn each_code(
        &self,
        mut visit: impl FnMut(&CodeView<'_>) -> error::Result,
    ) -> error::Result {
        let (mut start, end) = (0, 1 << 16);
        while start < end {
            let list = self.source.code(start)?;
            let (next, mut rest) = list.split_first().unwrap_or((&u64::MAX, &[]));
            while let Some(code) = CodeView::next(&mut rest) {
                visit(&code)?;
            }
            start = u32::try_from(*next).unwrap_or(end);
        }
        Ok(())
    }

    /// Passes the undecoded code of each method with code to `visit`. This is the cheapest access
    /// to code, for plugins that decode it themselves.
    ///
    /// # Errors
    /// Those of `visit`.
    pub fn each_raw_code(
        &self,
        mut visit: impl FnMut(&RawCode<'_>) -> error::Result,
    ) -> error::Result {
        let (mut start, end) = (0, 1 << 16);
        while start < end {
            let list = self.source.raw_code(start);
            let (next, mut rest) = list.split_first_chunk().unwrap_or((&[0xff; 4], &[]));
            while let Some(code) = RawCode::next(&mut rest) {
                visit(&code)?;
            }
            start = u32::from_be_bytes(*next);
        }
        Ok(())
    }
}

/// A method with its name. [`MethodView`] gives access to its code, which is fetched on first use.
pub struct Method<'a> {
    summary: MethodSummary,
    class: &'a dyn ClassSource,
    view: OnceCell<MethodView<'a>>,
}

impl Method<'_> {
    /// Name (JVMS 4.2.2), `<init>` for constructors.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.summary.name
    }

    /// The name with the class name in front, as in Java: `java.util.List.size`.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.class.name().replace('/', "."), self.name())
    }

    /// Descriptor (JVMS 4.3.3).
    #[must_use]
    pub fn descriptor(&self) -> &str {
        &self.summary.descriptor
    }

    /// The access flags (JVMS table 4.6-A).
    #[must_use]
    pub fn access_flags(&self) -> u16 {
        self.summary.access_flags
    }

    /// Returns whether the method has code, so that it is neither abstract nor native.
    #[must_use]
    pub fn has_code(&self) -> bool {
        self.summary.code_length > 0
    }

    /// Length of the code array in bytes.
    #[must_use]
    pub fn code_length(&self) -> u32 {
        self.summary.code_length
    }

    /// Returns whether the compiler generated the method (`ACC_SYNTHETIC`).
    #[must_use]
    pub fn is_synthetic(&self) -> bool {
        self.summary.access_flags & ACC_SYNTHETIC != 0
    }
}

impl<'a> Deref for Method<'a> {
    type Target = MethodView<'a>;

    fn deref(&self) -> &MethodView<'a> {
        self.view.get_or_init(|| {
            let index = self.summary.index;
            match self.class.method(index) {
                Some(inner) => MethodView {
                    index,
                    class: self.class,
                    inner,
                },
                None => unreachable!("the host listed method {index} and does not have it"),
            }
        })
    }
}

/// A call of a method.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The bci of the call.
    pub bci: u16,
    /// The opcode: `invokevirtual`, `invokespecial`, `invokestatic` or `invokeinterface`.
    pub opcode: u8,
    /// The called method.
    pub target: Member,
    /// The line, or 0 if unknown.
    pub line: u16,
}

/// An instruction that creates an object or an array.
#[derive(Debug, Clone, PartialEq)]
pub struct Allocation {
    /// The bci of the instruction.
    pub bci: u16,
    /// Internal name of the class, or descriptor of the array type.
    pub made: String,
    /// The line, or 0 if unknown.
    pub line: u16,
}

impl Allocation {
    /// The created type in Java's syntax: `java.lang.String[]`.
    #[must_use]
    pub fn java_name(&self) -> String {
        let dotted = |name: &str| name.replace('/', ".");
        match FieldType::parse(self.made.as_bytes()) {
            Ok(array) if self.made.starts_with('[') => array.to_java(dotted),
            _ => dotted(&self.made),
        }
    }
}

/// The line of the last entry at or before an instruction.
fn line_at(lines: &[Line], bci: u16) -> u16 {
    let before = lines.iter().filter(|line| line.bci <= bci);
    before
        .max_by_key(|line| line.bci)
        .map_or(0, |line| line.number)
}

/// An end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// The point.
    pub point: InsertionPoint,
    /// True at the end by an exception, which lies on the stack; false in front of a return instruction.
    pub thrown: bool,
}

/// A method of the class that is being loaded, with its code and the points in it.
pub struct MethodView<'a> {
    index: u16,
    class: &'a dyn ClassSource,
    inner: Box<dyn MethodSource + 'a>,
}

impl MethodView<'_> {
    /// The index in the class file, from 0.
    #[must_use]
    pub fn index(&self) -> u16 {
        self.index
    }

    /// Descriptors of the method's annotations, visible at run time or not.
    #[must_use]
    pub fn annotations(&self) -> Vec<String> {
        self.inner.annotations()
    }

    /// All instructions in order; empty for a method without code.
    ///
    /// # Errors
    /// If the code array cannot be decoded.
    pub fn instructions(&self) -> Result<Vec<Instruction>, Refusal> {
        self.inner.instructions()
    }

    /// The LineNumberTable entries (JVMS 4.7.12), in the order of the file.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        self.inner.lines()
    }

    /// The exception table (JVMS 4.7.3), in order.
    #[must_use]
    pub fn handlers(&self) -> Vec<Handler> {
        self.inner.handlers()
    }

    /// The line of an instruction, or 0 if unknown.
    #[must_use]
    pub fn line_at(&self, bci: u16) -> u16 {
        line_at(&self.lines(), bci)
    }

    /// Finds the calls of methods that `wanted` accepts, in order; [`Class::calls`] selects by a
    /// pattern.
    ///
    /// # Errors
    /// If the code array cannot be decoded.
    pub fn calls(&self, wanted: impl Fn(&Member) -> bool) -> Result<Vec<Call>, Refusal> {
        let all = queries::find(self.class, InstructionKind::Call, Some(self.index), "**")?;
        let wanted = all.into_iter().filter(|found| wanted(&found.target));
        let call = |found: wit::Found| Call {
            bci: found.bci().0,
            opcode: found.opcode,
            target: found.target,
            line: found.line,
        };
        Ok(wanted.map(call).collect())
    }

    /// Finds the instructions that create objects and arrays of types that `wanted` accepts, in
    /// order. `wanted` gets the internal name of a class, or the descriptor of an array type.
    /// [`Class::allocations`] selects by a pattern.
    ///
    /// # Errors
    /// If the code array cannot be decoded.
    pub fn allocations(&self, wanted: impl Fn(&str) -> bool) -> Result<Vec<Allocation>, Refusal> {
        let all = queries::find(
            self.class,
            InstructionKind::Allocation,
            Some(self.index),
            "**",
        )?;
        let wanted = all.into_iter().filter(|found| wanted(&found.target.owner));
        let allocation = |found: wit::Found| Allocation {
            bci: found.bci().0,
            made: found.target.owner,
            line: found.line,
        };
        Ok(wanted.map(allocation).collect())
    }

    /// Finds the backward jumps of the method, in order; their targets are the heads of its loops.
    /// A point before a target is reached in each iteration, these points of the jumps only at the
    /// start of another iteration.
    ///
    /// # Errors
    /// If the code array cannot be decoded.
    pub fn loops(&self) -> Result<Vec<InsertionPoint>, Refusal> {
        queries::loops(self.class, self.index)
    }

    /// The annotations of the method with their values, without those of its parameters. For many
    /// methods, [`Class::annotations_of`] needs only one call of the host.
    #[must_use]
    pub fn annotations_of(&self, kinds: &[&str]) -> Vec<declared::Annotation> {
        let own = |found: &DeclaredAnnotation| matches!(found.of, Annotated::Method(of) if of == self.index);
        let all = declared::annotations(self.class, kinds).into_iter();
        all.filter(own).map(|found| found.annotation).collect()
    }

    /// The default value of an element of an annotation interface (JVMS 4.7.22).
    #[must_use]
    pub fn annotation_default(&self) -> Option<declared::Value> {
        declared::annotation_default(self.class, self.index)
    }

    /// The names and flags of the parameters (JVMS 4.7.24); empty if the class was compiled without
    /// them.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        declared::parameters(self.class, self.index)
    }

    /// The exceptions that the method declares (JVMS 4.7.5).
    #[must_use]
    pub fn exceptions(&self) -> Vec<String> {
        declared::listed_classes(self.class, "Exceptions", Some(self.index))
    }

    /// The targets of the switch at `at`: default first, then the cases, with repetitions. Empty if
    /// the instruction is no switch.
    #[must_use]
    pub fn switch_targets(&self, at: u16) -> Vec<u16> {
        self.inner.switch_targets(at)
    }

    /// The field or method of a constant pool entry.
    #[must_use]
    pub fn member(&self, pool_index: u16) -> Option<Member> {
        self.inner.member(pool_index)
    }

    /// The class or array type of a constant pool entry; an array type as a descriptor.
    #[must_use]
    pub fn type_name(&self, pool_index: u16) -> Option<String> {
        self.inner.type_name(pool_index)
    }

    /// The method entry, reached once per invocation; jumps to the first instruction do not reach
    /// it.
    #[must_use]
    pub fn entry(&self) -> InsertionPoint {
        self.point(Location::Entry)
    }

    /// The ends of a call, each once: the points before the return instructions in order, and the point where an exception
    /// leaves the method. Empty for a method without code.
    ///
    /// # Errors
    /// Those of [`MethodView::instructions`].
    pub fn exits(&self) -> Result<Vec<Exit>, Refusal> {
        let instructions = self.instructions()?;
        if instructions.is_empty() {
            return Ok(Vec::new());
        }
        let returns = instructions
            .iter()
            .filter(|it| opcode::is_return(it.opcode));
        let returns = returns.map(|it| Exit {
            point: self.point(Location::Before(Bci(it.bci))),
            thrown: false,
        });
        let thrown = Exit {
            point: self.unwind(),
            thrown: true,
        };
        Ok(returns.chain([thrown]).collect())
    }

    /// The points before every return instruction and `athrow`, in order. An exception that is thrown here and leaves
    /// the method reaches [`MethodView::unwind`], too: for the ends of calls, use [`MethodView::exits`].
    #[must_use]
    pub fn returns(&self) -> Vec<InsertionPoint> {
        self.inner.returns()
    }

    /// The points before the instructions at `at`, on every path to them.
    #[must_use]
    pub fn before(&self, at: &[u16]) -> Vec<InsertionPoint> {
        self.points(at, Location::Before)
    }

    /// The points behind the instructions at `at`, reached only when they complete normally and the
    /// next instruction follows.
    #[must_use]
    pub fn fall_throughs(&self, at: &[u16]) -> Vec<InsertionPoint> {
        self.points(at, Location::FallThrough)
    }

    /// The point on the jump from `source` to `target`. All keys of a switch with the same target
    /// share it.
    #[must_use]
    pub fn jump(&self, source: u16, target: u16) -> InsertionPoint {
        self.point(Location::Jump {
            source: Bci(source),
            target: Bci(target),
        })
    }

    /// The point where an exception leaves the method, because no handler in it catches the
    /// exception.
    #[must_use]
    pub fn unwind(&self) -> InsertionPoint {
        self.point(Location::Unwind)
    }

    /// The points of the instructions at `at` themselves, for edits that change an instruction.
    #[must_use]
    pub fn at(&self, at: &[u16]) -> Vec<InsertionPoint> {
        self.points(at, Location::At)
    }

    fn points(&self, at: &[u16], location: fn(Bci) -> Location) -> Vec<InsertionPoint> {
        let at = at.iter().map(|bci| self.point(location(Bci(*bci))));
        at.collect()
    }

    /// Returns a point of this method.
    #[must_use]
    pub fn point(&self, location: Location) -> InsertionPoint {
        let method = MethodIndex(self.index);
        InsertionPoint { method, location }
    }
}
