//! What a plugin can ask about the class being loaded.
//!
//! Every accessor is one question to the host, answered with a whole list:
//! ask once and keep the answer.

use std::cell::OnceCell;
use std::ops::Deref;

use jvms::access_flags::ACC_SYNTHETIC;
use jvms::descriptor::FieldType;

use crate::declared::{self, Found};
use crate::error;
use crate::numbers::{CodeView, RawCode};
use crate::queries;
use crate::raw;
use crate::source::{ClassSource, MethodSource};
use crate::wit::{
    self, Annotated, Component, DynamicFound, Enclosing, Failure, FieldSummary, Handler,
    InnerClass, Instruction, Jump, Line, MemberRef, MethodSummary, Parameter, Place, Site,
};

/// The class being loaded.
pub struct Class<'a> {
    source: &'a dyn ClassSource,
}

impl<'a> Class<'a> {
    /// A view over `source`.
    #[must_use]
    pub fn new(source: &'a dyn ClassSource) -> Self {
        Self { source }
    }

    /// Internal name (JVMS 4.2.1), `java/util/List`.
    #[must_use]
    pub fn name(&self) -> String {
        self.source.name()
    }

    /// The name with dots, as people read it: `java.util.List`, `java.util.Map$Entry`.
    #[must_use]
    pub fn dotted_name(&self) -> String {
        self.name().replace('/', ".")
    }

    /// Internal name of the direct superclass; none for `java/lang/Object` and modules.
    #[must_use]
    pub fn super_name(&self) -> Option<String> {
        self.source.super_name()
    }

    /// Internal names of the direct superinterfaces, in order.
    #[must_use]
    pub fn interfaces(&self) -> Vec<String> {
        self.source.interfaces()
    }

    /// JVMS table 4.1-B.
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

    /// CRC-64 of the bytes of the first load (JaCoCo's class id), where they are known.
    #[must_use]
    pub fn fingerprint(&self) -> Option<u64> {
        self.source.fingerprint()
    }

    /// True when the class is already loaded, so its shape must not change.
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

    /// Contents of the class's first attribute of this name (JVMS 4.7), such as `InnerClasses` or `Record`; what indices
    /// in it name says [`Class::pool_text`].
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<Vec<u8>> {
        self.source.attribute(name)
    }

    /// The class file (capability `raw`): what [`crate::Plan::replace_class`] is made of.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        raw::bytes(self.source)
    }

    /// The text that a constant pool entry holds (JVMS 4.4.7) or, of a class, names.
    #[must_use]
    pub fn pool_text(&self, pool_index: u16) -> Option<String> {
        self.source.pool_text(pool_index)
    }

    /// The annotations in the class of these interfaces, by field descriptors, with their values and what they are of; of
    /// all interfaces if none is named. Those of types (JVMS 4.7.20) are not among them.
    #[must_use]
    pub fn annotations_of(&self, kinds: &[&str]) -> Vec<Found> {
        declared::annotations(self.source, kinds)
    }

    /// The entries of `InnerClasses` (JVMS 4.7.6).
    #[must_use]
    pub fn inner_classes(&self) -> Vec<InnerClass> {
        declared::inner_classes(self.source)
    }

    /// Where a local or anonymous class stands (JVMS 4.7.7).
    #[must_use]
    pub fn enclosing_method(&self) -> Option<Enclosing> {
        declared::enclosing_method(self.source)
    }

    /// The components of a record (JVMS 4.7.30); none if it is no record.
    #[must_use]
    pub fn components(&self) -> Option<Vec<Component>> {
        declared::components(self.source)
    }

    /// The classes that may extend a sealed class (JVMS 4.7.31); empty if it is not sealed.
    #[must_use]
    pub fn permitted_subclasses(&self) -> Vec<String> {
        declared::listed_classes(self.source, "PermittedSubclasses", None)
    }

    /// The host of the nest that the class belongs to (JVMS 4.7.28); none if it is the host itself.
    #[must_use]
    pub fn nest_host(&self) -> Option<String> {
        let host = declared::listed_classes(self.source, "NestHost", None);
        host.into_iter().next()
    }

    /// The other classes of the nest whose host the class is (JVMS 4.7.29).
    #[must_use]
    pub fn nest_members(&self) -> Vec<String> {
        declared::listed_classes(self.source, "NestMembers", None)
    }

    /// The calls, but for `invokedynamic`, of the methods that a pattern names, such as `java.sql.Statement.execute*`, in
    /// all methods of the class. [`wit::Found::before`] and [`wit::Found::instruction`] make places of what is found.
    ///
    /// # Errors
    /// For a pattern that makes no sense, and when a code array cannot be decoded.
    pub fn calls(&self, pattern: &str) -> Result<Vec<wit::Found>, Failure> {
        queries::find(self.source, "call", None, pattern)
    }

    /// The accesses to the fields that a pattern names, such as `com.acme.Account.*`.
    ///
    /// # Errors
    /// As [`Class::calls`].
    pub fn field_accesses(&self, pattern: &str) -> Result<Vec<wit::Found>, Failure> {
        queries::find(self.source, "field", None, pattern)
    }

    /// `monitorenter` and `monitorexit` in all methods of the class.
    ///
    /// # Errors
    /// When a code array cannot be decoded.
    pub fn monitors(&self) -> Result<Vec<wit::Found>, Failure> {
        queries::find(self.source, "monitor", None, "**")
    }

    /// `athrow` in all methods of the class.
    ///
    /// # Errors
    /// As [`Class::monitors`].
    pub fn throws(&self) -> Result<Vec<wit::Found>, Failure> {
        queries::find(self.source, "throw", None, "**")
    }

    /// Where the exceptions are handled whose types a pattern matches, such as `java.lang.*Exception`: the first
    /// instruction of each handler, once for each type that it catches, which is the owner of the target. That of a handler
    /// of everything, such as `finally`, is empty, and `**` finds it.
    ///
    /// # Errors
    /// As [`Class::calls`].
    pub fn catches(&self, pattern: &str) -> Result<Vec<wit::Found>, Failure> {
        queries::find(self.source, "catch", None, pattern)
    }

    /// What makes objects and arrays of the types that a pattern over internal names and descriptors of array types
    /// matches; the type is the owner of the target.
    ///
    /// # Errors
    /// As [`Class::calls`].
    pub fn allocations(&self, pattern: &str) -> Result<Vec<wit::Found>, Failure> {
        queries::find(self.source, "allocation", None, pattern)
    }

    /// What pushes string constants whose text a pattern matches, such as `select *`, and what makes strings by
    /// concatenation of parts of which one is such a constant (its opcode is `invokedynamic`); the text is the name of the
    /// target.
    ///
    /// # Errors
    /// As [`Class::calls`].
    pub fn strings(&self, pattern: &str) -> Result<Vec<wit::Found>, Failure> {
        let mut found = queries::find(self.source, "string", None, pattern)?;
        found.extend(queries::find(self.source, "recipe", None, pattern)?);
        found.sort_by_key(|found| (found.method, found.bci));
        Ok(found)
    }

    /// The `invokedynamic`s whose bootstrap method a pattern names, such as `java.lang.invoke.LambdaMetafactory.*`.
    ///
    /// # Errors
    /// As [`Class::calls`].
    pub fn dynamic_calls(&self, pattern: &str) -> Result<Vec<DynamicFound>, Failure> {
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

    /// The methods that have code, without names: cheaper than [`Class::methods`].
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

    /// Shows the code of all methods that have some to `visit`, for few questions, however many methods there are.
    ///
    /// # Errors
    /// When a code array cannot be decoded, and what `visit` gives.
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

    /// Shows the code of all methods that have some to `visit` as the class file has it: for plugins that decode it
    /// themselves, and the cheapest question about code.
    ///
    /// # Errors
    /// What `visit` gives.
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

    /// The sites of places in any methods, in their order.
    ///
    /// # Errors
    /// When one of them does not exist.
    pub fn sites(&self, at: &[Place]) -> Result<Vec<Site>, Failure> {
        self.source.sites(at)
    }
}

/// A method with its name; everything about its code through [`MethodView`], fetched when first used.
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

    /// The name behind that of its class, as people read it: `java.util.List.size`.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.class.name().replace('/', "."), self.name())
    }

    /// Descriptor (JVMS 4.3.3).
    #[must_use]
    pub fn descriptor(&self) -> &str {
        &self.summary.descriptor
    }

    /// JVMS table 4.6-A.
    #[must_use]
    pub fn access_flags(&self) -> u16 {
        self.summary.access_flags
    }

    /// Whether there is anything to instrument: not abstract, not native.
    #[must_use]
    pub fn has_code(&self) -> bool {
        self.summary.code_length > 0
    }

    /// Length of the code array in bytes.
    #[must_use]
    pub fn code_length(&self) -> u32 {
        self.summary.code_length
    }

    /// Whether the compiler made it up.
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

/// The call of a method.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Where it is.
    pub bci: u16,
    /// How it calls: `invokevirtual`, `invokespecial`, `invokestatic` or `invokeinterface`.
    pub opcode: u8,
    /// What it names.
    pub target: MemberRef,
    /// Its line; 0 if it is not known.
    pub line: u16,
}

/// An instruction that makes an object or an array.
#[derive(Debug, Clone, PartialEq)]
pub struct Allocation {
    /// Where it is.
    pub bci: u16,
    /// Internal name of the class, or descriptor of the array type.
    pub made: String,
    /// Its line; 0 if it is not known.
    pub line: u16,
}

impl Allocation {
    /// What is made, as Java writes it: `java.lang.String[]`.
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

/// One method of the class being loaded: its code, and the sites in it.
pub struct MethodView<'a> {
    index: u16,
    class: &'a dyn ClassSource,
    inner: Box<dyn MethodSource + 'a>,
}

impl MethodView<'_> {
    /// Position in the class file, from 0.
    #[must_use]
    pub fn index(&self) -> u16 {
        self.index
    }

    /// Descriptors of the method's annotations, visible at run time or not.
    #[must_use]
    pub fn annotations(&self) -> Vec<String> {
        self.inner.annotations()
    }

    /// All instructions in order; empty if there is no code.
    ///
    /// # Errors
    /// When the code array cannot be decoded.
    pub fn instructions(&self) -> Result<Vec<Instruction>, Failure> {
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

    /// The line of an instruction; 0 if it is not known.
    #[must_use]
    pub fn line_at(&self, bci: u16) -> u16 {
        line_at(&self.lines(), bci)
    }

    /// The calls of methods that `wanted` picks, in order; [`Class::calls`] picks by a pattern.
    ///
    /// # Errors
    /// When the code array cannot be decoded.
    pub fn calls(&self, wanted: impl Fn(&MemberRef) -> bool) -> Result<Vec<Call>, Failure> {
        let all = queries::find(self.class, "call", Some(self.index), "**")?;
        let wanted = all.into_iter().filter(|found| wanted(&found.target));
        let call = |found: wit::Found| Call {
            bci: found.bci,
            opcode: found.opcode,
            target: found.target,
            line: found.line,
        };
        Ok(wanted.map(call).collect())
    }

    /// The instructions that make objects and arrays of the types that `wanted` picks, in order. It is asked with the
    /// internal name of a class, or the descriptor of an array type. [`Class::allocations`] picks by a pattern.
    ///
    /// # Errors
    /// When the code array cannot be decoded.
    pub fn allocations(&self, wanted: impl Fn(&str) -> bool) -> Result<Vec<Allocation>, Failure> {
        let all = queries::find(self.class, "allocation", Some(self.index), "**")?;
        let wanted = all.into_iter().filter(|found| wanted(&found.target.owner));
        let allocation = |found: wit::Found| Allocation {
            bci: found.bci,
            made: found.target.owner,
            line: found.line,
        };
        Ok(wanted.map(allocation).collect())
    }

    /// The backward jumps of the method, in order: their targets are the heads of its loops. [`MethodView::before`] of a
    /// target is passed in each round, [`MethodView::jumps`] of these whenever another one begins.
    ///
    /// # Errors
    /// When the code array cannot be decoded.
    pub fn loops(&self) -> Result<Vec<Jump>, Failure> {
        queries::loops(self.class, self.index)
    }

    /// The method's own annotations with their values, those of its parameters not included. Of many methods
    /// [`Class::annotations_of`] tells by one question.
    #[must_use]
    pub fn annotations_of(&self, kinds: &[&str]) -> Vec<declared::Annotation> {
        let own = |found: &Found| matches!(found.of, Annotated::Method(of) if of == self.index);
        let all = declared::annotations(self.class, kinds).into_iter();
        all.filter(own).map(|found| found.annotation).collect()
    }

    /// Of a method of an annotation interface: the value that its element has where none is given (JVMS 4.7.22).
    #[must_use]
    pub fn annotation_default(&self) -> Option<declared::Value> {
        declared::annotation_default(self.class, self.index)
    }

    /// The parameters' names and flags (JVMS 4.7.24); empty where the class was compiled without them.
    #[must_use]
    pub fn parameters(&self) -> Vec<Parameter> {
        declared::parameters(self.class, self.index)
    }

    /// What the method declares to throw (JVMS 4.7.5).
    #[must_use]
    pub fn exceptions(&self) -> Vec<String> {
        declared::listed_classes(self.class, "Exceptions", Some(self.index))
    }

    /// Targets of the switch at `at`: default first, then the cases, with repetitions. Empty if there is no switch.
    #[must_use]
    pub fn switch_targets(&self, at: u16) -> Vec<u16> {
        self.inner.switch_targets(at)
    }

    /// The field or method that a constant pool entry names.
    #[must_use]
    pub fn member(&self, pool_index: u16) -> Option<MemberRef> {
        self.inner.member(pool_index)
    }

    /// The class or array type that a constant pool entry names; an array type by its descriptor.
    #[must_use]
    pub fn type_name(&self, pool_index: u16) -> Option<String> {
        self.inner.type_name(pool_index)
    }

    /// Passed once per invocation; jumps to the first instruction do not pass it.
    #[must_use]
    pub fn entry(&self) -> Site {
        self.inner.entry()
    }

    /// Before every return instruction and `athrow`, in order.
    #[must_use]
    pub fn returns(&self) -> Vec<Site> {
        self.inner.returns()
    }

    /// Before the instructions at `at`, on every path into them.
    ///
    /// # Errors
    /// When a bci is not the start of an instruction.
    pub fn before(&self, at: &[u16]) -> Result<Vec<Site>, Failure> {
        self.inner.before(at)
    }

    /// Behind the instructions at `at`, only when they complete normally into the next one.
    ///
    /// # Errors
    /// When a bci is not the start of an instruction that can do so.
    pub fn fall_throughs(&self, at: &[u16]) -> Result<Vec<Site>, Failure> {
        self.inner.fall_throughs(at)
    }

    /// On jumps. All keys of a switch with the same target share one site.
    ///
    /// # Errors
    /// When there is no such jump.
    pub fn jumps(&self, at: &[Jump]) -> Result<Vec<Site>, Failure> {
        self.inner.jumps(at)
    }

    /// Where an exception leaves the method that no handler of it catches.
    #[must_use]
    pub fn unwind(&self) -> Site {
        self.inner.unwind()
    }

    /// The instructions at `at` themselves, for what changes an instruction.
    ///
    /// # Errors
    /// When a bci is not the start of an instruction.
    pub fn at(&self, at: &[u16]) -> Result<Vec<Site>, Failure> {
        self.inner.at(at)
    }
}
