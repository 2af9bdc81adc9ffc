//! The edits that a plugin can make to a class.

use crate::bindings::classhook::plugin::{helpers, probes, raw, rewrite, structure};
use crate::class::MethodView;
use crate::imports::{capture_of, packed};
use crate::source::{PlanSink, Side};
use edits::{
    Annotation, Capture, Constant, Edit, Event, Field, FieldName, InsertionPoint, Instruction,
    Member, MethodIndex, Operand, Refusal, Snippet, Tag, Target, Visibility,
};

/// The beginning of notes about methods that are left alone.
const LEFT_OUT: &str = "left out: ";

/// The edits of one class. Each call records and checks one; all are applied only if
/// [`crate::Transformer::transform`] returns `Ok`.
pub struct Plan<'a> {
    sink: &'a dyn PlanSink,
}

impl<'a> Plan<'a> {
    /// Creates a plan that records into `sink`.
    #[must_use]
    pub fn new(sink: &'a dyn PlanSink) -> Self {
        Self { sink }
    }

    /// Inserts a probe with one bit per point: reached or not. Returns the number of the
    /// first probe; the others follow in the order of the points.
    ///
    /// `tag` is stored with these probes: bytes, or a row of a table ([`crate::Table::row`]). One call for many points is much cheaper than many calls.
    ///
    /// # Errors
    /// If a point does not exist or a limit is reached (65,536 edits, 1 MiB of tags per class).
    pub fn hit(&mut self, at: &[InsertionPoint], tag: impl Into<Tag>) -> Result<u32, Refusal> {
        match self.sink.side() {
            Side::Host(plan) => probes::hit(plan, &packed(at), &tag.into()),
            Side::Native(plan) => plan.hit(at, tag.into()),
        }
    }

    /// Inserts a 64-bit counter per point. Returns the number of the first probe;
    /// the others follow in the order of the points.
    ///
    /// The counters are not synchronized: threads that increment one at the same time may count
    /// once.
    ///
    /// # Errors
    /// Those of [`Plan::hit`].
    pub fn count(&mut self, at: &[InsertionPoint], tag: impl Into<Tag>) -> Result<u32, Refusal> {
        match self.sink.side() {
            Side::Host(plan) => probes::count(plan, &packed(at), &tag.into()),
            Side::Native(plan) => plan.count(at, tag.into()),
        }
    }

    /// Records the time from the entry of a method to its end, normal or by an exception, and the
    /// values in `capture`.
    ///
    /// # Errors
    /// If the method is abstract, lacks a requested argument or already has a span; and those of
    /// [`Plan::hit`].
    pub fn span(
        &mut self,
        method: &MethodView<'_>,
        capture: &Capture,
        tag: impl Into<Tag>,
    ) -> Result<u32, Refusal> {
        let index = method.index();
        match self.sink.side() {
            Side::Host(plan) => probes::span(plan, index, &capture_of(capture), &tag.into()),
            Side::Native(plan) => plan.span(index, capture, tag.into()),
        }
    }

    /// Records an event each time that one of the points is reached: time, thread, and the values in
    /// `event`. Calls and allocates nothing in the JVM. Returns the number of the first
    /// event; the others follow in the order of the points.
    ///
    /// A point of an instruction ([`MethodView::at`]) is reached in front of it; with
    /// [`Event::stack`], when it has completed normally. An instruction whose operands or result
    /// are recorded has only one such event, and no other change.
    ///
    /// ```
    /// use classhook_sdk::prelude::*;
    ///
    /// /// Records the statements of these calls of `Statement.execute(String)`, at most 100 per second each.
    /// fn statements(calls: &[InsertionPoint], plan: &mut Plan<'_>) -> Result {
    ///     let event = Event::default().operand("statement", 1).per_second(100);
    ///     plan.event(calls, &event, b"")?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// If a value is missing at one of the points, and those of [`Plan::hit`]; no event is then
    /// inserted.
    pub fn event(
        &mut self,
        at: &[InsertionPoint],
        event: &Event,
        tag: impl Into<Tag>,
    ) -> Result<u32, Refusal> {
        match self.sink.side() {
            Side::Host(plan) => probes::event(plan, &packed(at), event, &tag.into()),
            Side::Native(plan) => plan.event(at, event, tag.into()),
        }
    }

    /// Inserts code at each of the points (capability `rewrite`).
    ///
    /// # Errors
    /// If the code does not fit one of the points; no code is then inserted.
    pub fn insert(&mut self, at: &[InsertionPoint], code: &Snippet) -> Result<(), Refusal> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::insert(plan, &packed(at), code.instructions()),
            Side::Native(plan) => {
                plan.edit(Edit::Insert(at.to_vec(), code.instructions().to_vec()))
            }
        }
    }

    /// Replaces the body of a method that has code (capability `rewrite`).
    ///
    /// # Errors
    /// If the body does not fit the method, or was already replaced.
    pub fn replace_body(&mut self, method: &MethodView<'_>, code: &Snippet) -> Result<(), Refusal> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::replace_body(plan, method.index(), code.instructions()),
            Side::Native(plan) => plan.edit(Edit::ReplaceBody(
                MethodIndex(method.index()),
                code.instructions().to_vec(),
            )),
        }
    }

    /// Inserts code in front of instructions, and behind them where they have completed normally
    /// (capability `rewrite`). The points here and in the following functions are those of
    /// [`MethodView::at`].
    ///
    /// # Errors
    /// If the code does not fit one of the points; no code is then inserted.
    pub fn wrap(
        &mut self,
        at: &[InsertionPoint],
        before: &Snippet,
        after: &Snippet,
    ) -> Result<(), Refusal> {
        let (before, after) = (before.instructions(), after.instructions());
        match self.sink.side() {
            Side::Host(plan) => rewrite::wrap(plan, &packed(at), before, after),
            Side::Native(plan) => {
                plan.edit(Edit::Wrap(at.to_vec(), before.to_vec(), after.to_vec()))
            }
        }
    }

    /// Inserts code around instructions: calls except those of constructors, field accesses,
    /// `monitorenter`, `monitorexit` and array creations (capability `rewrite`). The code begins
    /// with an empty stack, and leaves the result of the instruction. Its local variables live from
    /// before the instruction until behind it.
    ///
    /// ```
    /// use classhook_sdk::opcode::{INVOKESTATIC, LLOAD, LSTORE, LSUB};
    /// use classhook_sdk::prelude::*;
    /// use classhook_sdk::edit::Member;
    ///
    /// /// Passes the receiver and the duration of each of these calls to `com.acme.Times.took(Object, long)`.
    /// fn timed(calls: &[InsertionPoint], plan: &mut Plan<'_>) -> Result {
    ///     let now = || Member::of_class("java/lang/System", "nanoTime", "()J");
    ///     let took = Member::of_class("com/acme/Times", "took", "(Ljava/lang/Object;J)V");
    ///     let mut code = Snippet::new();
    ///     code.invoke(INVOKESTATIC, now()).op(LSTORE, 0).proceed();
    ///     code.load_operand(0).invoke(INVOKESTATIC, now()).op(LLOAD, 0).op(LSUB, 0);
    ///     code.invoke(INVOKESTATIC, took);
    ///     Ok(plan.around(calls, &code)?)
    /// }
    /// ```
    ///
    /// # Errors
    /// If the code does not fit one of the points; no code is then inserted.
    pub fn around(&mut self, at: &[InsertionPoint], code: &Snippet) -> Result<(), Refusal> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::around(plan, &packed(at), code.instructions()),
            Side::Native(plan) => {
                plan.edit(Edit::Around(at.to_vec(), code.instructions().to_vec()))
            }
        }
    }

    /// Redirects calls and field accesses to this method (capability `rewrite`). The method takes
    /// the operands of the instruction, with the receiver first if `opcode` is `invokestatic`, and
    /// returns its result.
    ///
    /// ```
    /// use classhook_sdk::opcode::INVOKESTATIC;
    /// use classhook_sdk::prelude::*;
    /// use classhook_sdk::edit::Member;
    ///
    /// /// Replaces `System.currentTimeMillis()` by `com.acme.Clock.now()` in this method.
    /// fn with_our_clock(method: &Method<'_>, plan: &mut Plan<'_>) -> Result {
    ///     let all = method.instructions()?;
    ///     let asks = |index: i32| method.member(index as u16).is_some_and(|it| it.name == "currentTimeMillis");
    ///     let calls = all.iter().filter(|it| it.opcode == INVOKESTATIC && asks(it.operand));
    ///     let now = Member::of_class("com/acme/Clock", "now", "()J");
    ///     let calls: Vec<u16> = calls.map(|it| it.bci).collect();
    ///     Ok(plan.redirect_call(&method.at(&calls), INVOKESTATIC, &now)?)
    /// }
    /// ```
    ///
    /// # Errors
    /// If the method does not fit one of the instructions; none is then changed.
    pub fn redirect_call(
        &mut self,
        at: &[InsertionPoint],
        opcode: u8,
        target: &Member,
    ) -> Result<(), Refusal> {
        self.redirect(at, opcode, target)
    }

    /// Redirects field accesses to another field of the same type (capability `rewrite`).
    ///
    /// # Errors
    /// Those of [`Plan::redirect_call`].
    pub fn redirect_field(
        &mut self,
        at: &[InsertionPoint],
        opcode: u8,
        target: &Member,
    ) -> Result<(), Refusal> {
        self.redirect(at, opcode, target)
    }

    fn redirect(
        &mut self,
        at: &[InsertionPoint],
        opcode: u8,
        target: &Member,
    ) -> Result<(), Refusal> {
        let by = Instruction::new(opcode, Operand::Member(target.clone()));
        match self.sink.side() {
            Side::Host(plan) => rewrite::redirect(plan, &packed(at), &by),
            Side::Native(plan) => plan.edit(Edit::Redirect(at.to_vec(), by)),
        }
    }

    /// Replaces these `new` and the constructor calls by a static method with the constructor's
    /// parameters (capability `rewrite`).
    ///
    /// # Errors
    /// Those of [`Plan::redirect_call`].
    pub fn redirect_allocation(
        &mut self,
        at: &[InsertionPoint],
        target: &Member,
    ) -> Result<(), Refusal> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::redirect_allocation(plan, &packed(at), target),
            Side::Native(plan) => plan.edit(Edit::RedirectAllocation(at.to_vec(), target.clone())),
        }
    }

    /// Replaces the class of these `new` by a subclass with the same constructor, given by its
    /// internal name (capability `rewrite`).
    ///
    /// # Errors
    /// Those of [`Plan::redirect_call`], and if the class file does not show that the class is a
    /// subclass: see [`Plan::allocate_with_cast`].
    pub fn allocate(&mut self, at: &[InsertionPoint], name: &str) -> Result<(), Refusal> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::allocate(plan, &packed(at), name),
            Side::Native(plan) => plan.edit(Edit::Allocate(at.to_vec(), name.to_owned(), false)),
        }
    }

    /// Like [`Plan::allocate`], for a class that only the plugin knows to be a subclass. A cast
    /// behind the constructor call satisfies the verifier. If the class is no subclass, the program
    /// gets a `ClassCastException`.
    ///
    /// # Errors
    /// Those of [`Plan::redirect_call`].
    pub fn allocate_with_cast(&mut self, at: &[InsertionPoint], name: &str) -> Result<(), Refusal> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::allocate_with_cast(plan, &packed(at), name),
            Side::Native(plan) => plan.edit(Edit::Allocate(at.to_vec(), name.to_owned(), true)),
        }
    }

    /// Removes calls and field accesses; `value` replaces their result, and is zero or null by
    /// default (capability `rewrite`).
    ///
    /// # Errors
    /// Those of [`Plan::redirect_call`].
    pub fn remove(
        &mut self,
        at: &[InsertionPoint],
        value: Option<&Constant>,
    ) -> Result<(), Refusal> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::remove(plan, &packed(at), value),
            Side::Native(plan) => plan.edit(Edit::Remove(at.to_vec(), value.cloned())),
        }
    }

    /// Replaces the class file (capability `raw`). The new one must have the same shape, as for a
    /// loaded class, and must be valid as far as one class file shows. Other edits, of any plugin,
    /// apply to each method whose code is the same in both.
    ///
    /// ```
    /// use classhook_sdk::prelude::*;
    ///
    /// /// Lowers the version to that of Java 7, the first with verified stack map frames.
    /// fn as_java_7(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    ///     let mut bytes = class.bytes();
    ///     bytes[7] = bytes[7].min(51);
    ///     Ok(plan.replace_class(&bytes)?)
    /// }
    /// ```
    ///
    /// # Errors
    /// If the bytes are no valid class file, or of another class, another shape or a newer version.
    /// Also if the class file was already replaced, or the plan has structural edits.
    pub fn replace_class(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        match self.sink.side() {
            Side::Host(plan) => raw::replace(plan, bytes),
            Side::Native(plan) => plan.edit(Edit::ReplaceClass(bytes.to_vec())),
        }
    }

    /// Adds helper classes to the package of the class (capability `helpers`), for the inserted
    /// code. Its loader defines them before the class is loaded, unless it already has them.
    /// Returns their names in that package, in the same order.
    ///
    /// The class files may be of any packages, and may refer to each other.
    ///
    /// ```
    /// use classhook_sdk::opcode::INVOKESTATIC;
    /// use classhook_sdk::prelude::*;
    /// use classhook_sdk::edit::Member;
    ///
    /// /// `class Log { static void entered(String method) … }`, compiled with `javac --release 8`.
    /// fn log_each_method(log: &[u8], class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    ///     let names = plan.helpers(&[log])?;
    ///     let entered = Member::of_class(&names[0], "entered", "(Ljava/lang/String;)V");
    ///     for method in class.methods().filter(Method::has_code) {
    ///         let mut call = Snippet::new();
    ///         call.push_string(method.name()).invoke(INVOKESTATIC, entered.clone());
    ///         plan.insert(&[method.entry()], &call)?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// If a class file is invalid, older than version 51, or has a supertype that is neither in
    /// `java/` nor earlier in the list; and beyond 64 classes or 1 MiB for one class.
    pub fn helpers(&mut self, class_files: &[&[u8]]) -> Result<Vec<String>, Refusal> {
        let files: Vec<Vec<u8>> = class_files.iter().map(|file| file.to_vec()).collect();
        match self.sink.side() {
            Side::Host(plan) => helpers::define(plan, &files),
            Side::Native(plan) => plan.helpers(&files),
        }
    }

    /// Adds a field (capability `structure`).
    ///
    /// # Errors
    /// If a field of that name and type exists, or the JVM would reject it: a loaded class cannot
    /// get fields ([`crate::Class::is_retransforming`]).
    pub fn add_field(&mut self, field: &Field) -> Result<(), Refusal> {
        match self.sink.side() {
            Side::Host(plan) => structure::add_field(
                plan,
                field.access_flags,
                &field.name,
                &field.descriptor,
                field.value.as_ref(),
            ),
            Side::Native(plan) => plan.edit(Edit::AddField(field.clone())),
        }
    }

    /// Adds a method with code, or without if it is abstract or native (capabilities `structure`
    /// and `rewrite`).
    ///
    /// # Errors
    /// Those of [`Plan::add_field`], and if the body does not fit.
    pub fn add_method(
        &mut self,
        access_flags: u16,
        name: &str,
        descriptor: &str,
        body: Option<&Snippet>,
    ) -> Result<(), Refusal> {
        let body = body.map(Snippet::instructions);
        match self.sink.side() {
            Side::Host(plan) => structure::add_method(plan, access_flags, name, descriptor, body),
            Side::Native(plan) => plan.edit(Edit::AddMethod(
                access_flags,
                name.to_owned(),
                descriptor.to_owned(),
                body.map(<[_]>::to_vec),
            )),
        }
    }

    /// Adds a direct superinterface by its internal name (capability `structure`).
    ///
    /// # Errors
    /// Those of [`Plan::add_field`].
    pub fn add_interface(&mut self, name: &str) -> Result<(), Refusal> {
        match self.sink.side() {
            Side::Host(plan) => structure::add_interface(plan, name),
            Side::Native(plan) => plan.edit(Edit::AddInterface(name.to_owned())),
        }
    }

    /// Annotates the class (capability `structure`); reflection sees it if it is visible.
    ///
    /// # Errors
    /// If the class already has such an annotation.
    pub fn annotate_class(
        &mut self,
        visibility: Visibility,
        value: &Annotation,
    ) -> Result<(), Refusal> {
        self.annotate(&Target::Class, visibility, value)
    }

    /// Annotates a field of the class (capability `structure`).
    ///
    /// # Errors
    /// If the field does not exist, or already has such an annotation.
    pub fn annotate_field(
        &mut self,
        name: &str,
        descriptor: &str,
        visibility: Visibility,
        value: &Annotation,
    ) -> Result<(), Refusal> {
        self.annotate(&field_of(name, descriptor), visibility, value)
    }

    /// Annotates a method (capability `structure`).
    ///
    /// # Errors
    /// If the method already has such an annotation.
    pub fn annotate_method(
        &mut self,
        method: &MethodView<'_>,
        visibility: Visibility,
        value: &Annotation,
    ) -> Result<(), Refusal> {
        self.annotate(&Target::Method(method.index()), visibility, value)
    }

    /// Renames a field or method, of this or another class, in the declarations and references of
    /// this class (capability `structure`).
    ///
    /// # Errors
    /// Those of [`Plan::add_field`].
    pub fn rename_member(&mut self, member: &Member, name: &str) -> Result<(), Refusal> {
        match self.sink.side() {
            Side::Host(plan) => structure::rename_member(plan, member, name),
            Side::Native(plan) => plan.edit(Edit::RenameMember(member.clone(), name.to_owned())),
        }
    }

    /// Renames a type, given by its internal name, in all references of this class, including
    /// descriptors, signatures and annotations. Strings stay unchanged (capability `structure`).
    ///
    /// # Errors
    /// Those of [`Plan::add_field`], and for the class itself, which keeps its name.
    pub fn rename_type(&mut self, name: &str, to: &str) -> Result<(), Refusal> {
        match self.sink.side() {
            Side::Host(plan) => structure::rename_type(plan, name, to),
            Side::Native(plan) => plan.edit(Edit::RenameType(name.to_owned(), to.to_owned())),
        }
    }

    /// Adds a class attribute that is unknown to the JVM (capability `structure`), for other
    /// readers of the class file.
    ///
    /// # Errors
    /// If the class already has such an attribute, or the JVM defines the name (JVMS 4.7).
    pub fn add_class_attribute(&mut self, name: &str, contents: &[u8]) -> Result<(), Refusal> {
        self.add_attribute(&Target::Class, name, contents)
    }

    /// Adds an attribute to a field of the class (capability `structure`).
    ///
    /// # Errors
    /// Those of [`Plan::add_class_attribute`], and if the field does not exist.
    pub fn add_field_attribute(
        &mut self,
        field: &str,
        descriptor: &str,
        name: &str,
        contents: &[u8],
    ) -> Result<(), Refusal> {
        self.add_attribute(&field_of(field, descriptor), name, contents)
    }

    /// Adds an attribute to a method (capability `structure`).
    ///
    /// # Errors
    /// Those of [`Plan::add_class_attribute`].
    pub fn add_method_attribute(
        &mut self,
        method: &MethodView<'_>,
        name: &str,
        contents: &[u8],
    ) -> Result<(), Refusal> {
        self.add_attribute(&Target::Method(method.index()), name, contents)
    }

    fn annotate(
        &mut self,
        target: &Target,
        visibility: Visibility,
        value: &Annotation,
    ) -> Result<(), Refusal> {
        let value = value.elements();
        match self.sink.side() {
            Side::Host(plan) => structure::annotate(plan, target, visibility, &value),
            Side::Native(plan) => plan.edit(Edit::Annotate(target.clone(), visibility, value)),
        }
    }

    fn add_attribute(
        &mut self,
        target: &Target,
        name: &str,
        contents: &[u8],
    ) -> Result<(), Refusal> {
        match self.sink.side() {
            Side::Host(plan) => structure::add_attribute(plan, target, name, contents),
            Side::Native(plan) => {
                let (name, contents) = (name.to_owned(), contents.to_vec());
                plan.edit(Edit::AddAttribute(target.clone(), name, contents))
            }
        }
    }

    /// Adds a note for the user about an action, or an omission, at a point.
    pub fn note(&mut self, at: InsertionPoint, text: &str) {
        self.sink.note(at, text);
    }

    /// Adds a note that a method is left alone, with the reason. The summary and `status` count it.
    pub fn leave_out(&mut self, at: InsertionPoint, reason: &str) {
        self.sink.note(at, &format!("{LEFT_OUT}{reason}"));
    }
}

/// Returns a field as the target of an annotation or attribute.
fn field_of(name: &str, descriptor: &str) -> Target {
    Target::Field(FieldName {
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
    })
}
