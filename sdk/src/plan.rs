//! What a plugin can do to a class.

use crate::bindings::classhook::plugin::{helpers, probes, raw, rewrite, structure};
use crate::capture::Capture;
use crate::class::MethodView;
use crate::edit::{Annotation, Change, Constant, Edit, Field, Target};
use crate::event::Event;
use crate::imports::{annotation_of, capture_of, code_of, row_of, values_of};
use crate::snippet::{Member, Snippet};
use crate::source::{PlanSink, Side};
use crate::table::Table;
use crate::wit::{Failure, Place, ProbeId, Site};

/// Edits to one class: recorded and checked call by call, applied only if
/// [`crate::Transformer::transform`] returns `Ok`.
pub struct Plan<'a> {
    sink: &'a dyn PlanSink,
}

impl<'a> Plan<'a> {
    /// A plan that records into `sink`.
    #[must_use]
    pub fn new(sink: &'a dyn PlanSink) -> Self {
        Self { sink }
    }

    /// One bit per site: reached or not. Returns the probes in the order of the sites.
    ///
    /// `tag` is kept with these probes. One call for many sites is far cheaper than many calls.
    ///
    /// # Errors
    /// When a site does not exist or a limit is reached (65,536 edits, 1 MiB of tags per class).
    pub fn hit(&mut self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure> {
        match self.sink.side() {
            Side::Host(plan) => probes::hit(plan, at, tag),
            Side::Native(plan) => plan.hit(at, tag),
        }
    }

    /// The same for places in any methods ([`crate::RawCode::place`]). Returns the first of the probes, whose numbers
    /// follow one another: cheaper still than asking for sites first.
    ///
    /// # Errors
    /// When a place does not exist, and as [`Plan::hit`]; none of them then has a probe.
    pub fn hit_places(&mut self, at: &[Place], tag: &[u8]) -> Result<ProbeId, Failure> {
        match self.sink.side() {
            Side::Host(plan) => {
                let numbers: Vec<u64> = at.iter().copied().map(u64::from).collect();
                probes::hit_places(plan, &numbers, tag)
            }
            Side::Native(plan) => plan.hit_places(at, tag),
        }
    }

    /// A 64-bit counter per site. Returns the probes in the order of the sites.
    ///
    /// Without synchronization: threads that meet there at once may count once.
    ///
    /// # Errors
    /// As [`Plan::hit`].
    pub fn count(&mut self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure> {
        match self.sink.side() {
            Side::Host(plan) => probes::count(plan, at, tag),
            Side::Native(plan) => plan.count(at, tag),
        }
    }

    /// The time from the entry of a method to its end, normal or by an exception, with what `capture` asks for.
    ///
    /// # Errors
    /// When the method is abstract, has not the argument asked for, or a span already; and as [`Plan::hit`].
    pub fn span(
        &mut self,
        method: &MethodView<'_>,
        capture: &Capture,
        tag: &[u8],
    ) -> Result<ProbeId, Failure> {
        let index = method.index();
        match self.sink.side() {
            Side::Host(plan) => probes::span(plan, index, &capture_of(capture), tag),
            Side::Native(plan) => plan.span(index, capture, tag),
        }
    }

    /// A record each time that one of the sites is reached: time, thread, and what `event` asks for. Nothing is called
    /// and nothing allocated in the JVM. Returns the events in the order of the sites.
    ///
    /// A site of an instruction ([`MethodView::at`]) is reached in front of it; with [`Event::stack`], where it has
    /// completed normally. An instruction whose operands are recorded, or what it gives, has one such event and is
    /// not changed.
    ///
    /// ```
    /// use classhook_sdk::prelude::*;
    ///
    /// /// What these calls of `Statement.execute(String)` are given, at most 100 times a second each.
    /// fn statements(calls: &[Site], plan: &mut Plan<'_>) -> Result {
    ///     let event = Event::default().operand("statement", 1).per_second(100);
    ///     plan.event(calls, &event, b"")?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// When a value is not there at one of the sites, and as [`Plan::hit`]; none of them then has the event.
    pub fn event(
        &mut self,
        at: &[Site],
        event: &Event,
        tag: &[u8],
    ) -> Result<Vec<ProbeId>, Failure> {
        match self.sink.side() {
            Side::Host(plan) => probes::event(plan, at, &values_of(event), tag),
            Side::Native(plan) => plan.event(at, event, tag),
        }
    }

    /// A row of a table, as the tag of counts, spans and events: what the former count and time is added up over all
    /// rows with the same cells, an event is a row of its own behind these cells. Both are shown by `classhook report` and `classhook plugin run`.
    ///
    /// `cells` is the row's key, a text for each of the table's columns, numbers in decimal; longer ones than 1,024
    /// bytes are cut.
    ///
    /// # Errors
    /// When cells and columns do not go together, a cell is no number where its column has numbers, or a name is more
    /// than 64 letters, digits, `-` and `_`.
    pub fn row(&self, table: &Table, cells: &[&str]) -> Result<Vec<u8>, Failure> {
        match self.sink.side() {
            Side::Host(_) => row_of(table, cells),
            Side::Native(plan) => plan.row(table, cells),
        }
    }

    /// Inserts code at each of the sites (capability `rewrite`).
    ///
    /// # Errors
    /// When the code does not fit one of the sites; it is then inserted nowhere.
    pub fn insert(&mut self, at: &[Site], code: &Snippet) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::insert(plan, at, &code_of(code)?),
            Side::Native(plan) => plan.edit(&Edit::Insert(at, code)),
        }
    }

    /// Gives a method that has code another body (capability `rewrite`).
    ///
    /// # Errors
    /// When the body does not fit the method, or the method got another one before.
    pub fn replace_body(&mut self, method: &MethodView<'_>, code: &Snippet) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::replace_body(plan, method.index(), &code_of(code)?),
            Side::Native(plan) => plan.edit(&Edit::Body(method.index(), code)),
        }
    }

    /// Runs code in front of instructions, and when they have completed normally (capability `rewrite`). The sites are
    /// those of [`MethodView::at`], here and in what follows.
    ///
    /// # Errors
    /// When the code does not fit one of them; it is then inserted nowhere.
    pub fn wrap(&mut self, at: &[Site], before: &Snippet, after: &Snippet) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::wrap(plan, at, &code_of(before)?, &code_of(after)?),
            Side::Native(plan) => plan.edit(&Edit::Wrap(at, before, after)),
        }
    }

    /// Runs code around instructions: calls other than constructors', field accesses, `monitorenter`, `monitorexit` and
    /// the creation of arrays (capability `rewrite`). It finds nothing on the stack, and leaves what the instruction
    /// gives; its local variables last from before the instruction until behind it.
    ///
    /// ```
    /// use classhook_sdk::opcode::{INVOKESTATIC, LLOAD, LSTORE, LSUB};
    /// use classhook_sdk::prelude::*;
    /// use classhook_sdk::snippet::Member;
    ///
    /// /// Tells `com.acme.Times.took(Object, long)` which receiver each of these calls had, and how long it took.
    /// fn timed(calls: &[Site], plan: &mut Plan<'_>) -> Result {
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
    /// When the code does not fit one of them; it is then around none.
    pub fn around(&mut self, at: &[Site], code: &Snippet) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::around(plan, at, &code_of(code)?),
            Side::Native(plan) => plan.edit(&Edit::Around(at, code)),
        }
    }

    /// Lets calls and field accesses call this method instead (capability `rewrite`). It takes what was on the stack,
    /// the receiver first if `opcode` is `invokestatic`, and gives what was expected.
    ///
    /// ```
    /// use classhook_sdk::opcode::INVOKESTATIC;
    /// use classhook_sdk::prelude::*;
    /// use classhook_sdk::snippet::Member;
    ///
    /// /// `System.currentTimeMillis()` becomes `com.acme.Clock.now()` in this method.
    /// fn with_our_clock(method: &Method<'_>, plan: &mut Plan<'_>) -> Result {
    ///     let all = method.instructions()?;
    ///     let asks = |index: i32| method.member(index as u16).is_some_and(|it| it.name == "currentTimeMillis");
    ///     let calls: Vec<u16> = all.iter().filter(|it| it.opcode == INVOKESTATIC && asks(it.operand)).map(|it| it.bci).collect();
    ///     let now = Member::of_class("com/acme/Clock", "now", "()J");
    ///     Ok(plan.redirect_call(&method.at(&calls)?, INVOKESTATIC, &now)?)
    /// }
    /// ```
    ///
    /// # Errors
    /// When the method does not suit one of the instructions; none is then changed.
    pub fn redirect_call(
        &mut self,
        at: &[Site],
        opcode: u8,
        target: &Member,
    ) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => {
                rewrite::redirect_call(plan, at, opcode, &target.reference(), target.interface)
            }
            Side::Native(plan) => {
                plan.edit(&Edit::Change(at, Change::Call(opcode, target.clone())))
            }
        }
    }

    /// Lets field accesses go to another field of the same type (capability `rewrite`).
    ///
    /// # Errors
    /// As [`Plan::redirect_call`].
    pub fn redirect_field(
        &mut self,
        at: &[Site],
        opcode: u8,
        target: &Member,
    ) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::redirect_field(plan, at, opcode, &target.reference()),
            Side::Native(plan) => {
                plan.edit(&Edit::Change(at, Change::Field(opcode, target.clone())))
            }
        }
    }

    /// Lets a static method make the objects that these `new` make; it has the constructor's parameters (capability
    /// `rewrite`).
    ///
    /// # Errors
    /// As [`Plan::redirect_call`].
    pub fn redirect_allocation(&mut self, at: &[Site], target: &Member) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => {
                rewrite::redirect_allocation(plan, at, &target.reference(), target.interface)
            }
            Side::Native(plan) => plan.edit(&Edit::Change(at, Change::Factory(target.clone()))),
        }
    }

    /// Lets these `new` make objects of a subclass with the same constructor, by its internal name (capability
    /// `rewrite`).
    ///
    /// # Errors
    /// As [`Plan::redirect_call`], and where the class file does not say that it is a subclass: see
    /// [`Plan::allocate_with_cast`].
    pub fn allocate(&mut self, at: &[Site], name: &str) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::allocate(plan, at, name),
            Side::Native(plan) => plan.edit(&Edit::Change(at, Change::New(name.to_owned()))),
        }
    }

    /// As [`Plan::allocate`], for a class that only the plugin knows to be a subclass: a cast behind the constructor
    /// shows it to the verifier. If it is none, the program gets a `ClassCastException`.
    ///
    /// # Errors
    /// As [`Plan::redirect_call`].
    pub fn allocate_with_cast(&mut self, at: &[Site], name: &str) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::allocate_with_cast(plan, at, name),
            Side::Native(plan) => {
                plan.edit(&Edit::Change(at, Change::NewWithCast(name.to_owned())))
            }
        }
    }

    /// Takes calls and field accesses out; `value` takes the place of their result, zero or null if there is none
    /// (capability `rewrite`).
    ///
    /// # Errors
    /// As [`Plan::redirect_call`].
    pub fn remove(&mut self, at: &[Site], value: Option<&Constant>) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => rewrite::remove(plan, at, value),
            Side::Native(plan) => plan.edit(&Edit::Change(at, Change::Remove(value.cloned()))),
        }
    }

    /// Gives the class another class file (capability `raw`): of the same shape, as a loaded class must keep it, and as
    /// the JVM takes it, as far as one class file says. Other edits, of any plugin, are made in each method whose code is
    /// the same in both.
    ///
    /// ```
    /// use classhook_sdk::prelude::*;
    ///
    /// /// The lowest version of class files that has stack map frames.
    /// fn as_java_7(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    ///     let mut bytes = class.bytes();
    ///     bytes[7] = bytes[7].min(51);
    ///     Ok(plan.replace_class(&bytes)?)
    /// }
    /// ```
    ///
    /// # Errors
    /// When it is no class file, another class's, of another shape or a newer version, or not sound; when there is one
    /// already, and beside edits of what the class is.
    pub fn replace_class(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => raw::replace(plan, bytes),
            Side::Native(plan) => plan.edit(&Edit::Class(bytes)),
        }
    }

    /// Gives classes to the class's package (capability `helpers`), for the code that is inserted: its loader defines them
    /// before the class is loaded, unless it has them. Returns their names there, in the same order.
    ///
    /// In the class files each may have any package; they may name one another.
    ///
    /// ```
    /// use classhook_sdk::opcode::INVOKESTATIC;
    /// use classhook_sdk::prelude::*;
    /// use classhook_sdk::snippet::Member;
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
    /// When one is older than version 51, has a supertype that is neither in `java/` nor before it, or is not sound; and
    /// beyond 64 classes or 1 MiB for one class.
    pub fn helpers(&mut self, class_files: &[&[u8]]) -> Result<Vec<String>, Failure> {
        let files: Vec<Vec<u8>> = class_files.iter().map(|file| file.to_vec()).collect();
        match self.sink.side() {
            Side::Host(plan) => helpers::define(plan, &files),
            Side::Native(plan) => plan.helpers(&files),
        }
    }

    /// Adds a field (capability `structure`).
    ///
    /// # Errors
    /// When there is one of that name and type, or the JVM would refuse it: a loaded class takes none
    /// ([`crate::Class::is_retransforming`]).
    pub fn add_field(&mut self, field: &Field) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => structure::add_field(
                plan,
                field.access_flags,
                &field.name,
                &field.descriptor,
                field.value.as_ref(),
            ),
            Side::Native(plan) => plan.edit(&Edit::AddField(field)),
        }
    }

    /// Adds a method with code, or without if it is abstract or native (capabilities `structure` and `rewrite`).
    ///
    /// # Errors
    /// As [`Plan::add_field`], and when the body does not fit.
    pub fn add_method(
        &mut self,
        access_flags: u16,
        name: &str,
        descriptor: &str,
        body: Option<&Snippet>,
    ) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => {
                let body = body.map(code_of).transpose()?;
                structure::add_method(plan, access_flags, name, descriptor, body.as_ref())
            }
            Side::Native(plan) => plan.edit(&Edit::AddMethod(access_flags, name, descriptor, body)),
        }
    }

    /// Adds a direct superinterface by its internal name (capability `structure`).
    ///
    /// # Errors
    /// As [`Plan::add_field`].
    pub fn add_interface(&mut self, name: &str) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => structure::add_interface(plan, name),
            Side::Native(plan) => plan.edit(&Edit::AddInterface(name)),
        }
    }

    /// Annotates the class (capability `structure`); reflection sees it if it is visible.
    ///
    /// # Errors
    /// When the class has such an annotation.
    pub fn annotate_class(&mut self, visible: bool, value: &Annotation) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => structure::annotate_class(plan, visible, &annotation_of(value)),
            Side::Native(plan) => plan.edit(&Edit::Annotate(Target::Class, visible, value)),
        }
    }

    /// Annotates a field that the class has (capability `structure`).
    ///
    /// # Errors
    /// When there is no such field, or it has such an annotation.
    pub fn annotate_field(
        &mut self,
        name: &str,
        descriptor: &str,
        visible: bool,
        value: &Annotation,
    ) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => {
                structure::annotate_field(plan, name, descriptor, visible, &annotation_of(value))
            }
            Side::Native(plan) => {
                let target = Target::Field(name.to_owned(), descriptor.to_owned());
                plan.edit(&Edit::Annotate(target, visible, value))
            }
        }
    }

    /// Annotates a method (capability `structure`).
    ///
    /// # Errors
    /// When it has such an annotation.
    pub fn annotate_method(
        &mut self,
        method: &MethodView<'_>,
        visible: bool,
        value: &Annotation,
    ) -> Result<(), Failure> {
        let index = method.index();
        match self.sink.side() {
            Side::Host(plan) => {
                structure::annotate_method(plan, index, visible, &annotation_of(value))
            }
            Side::Native(plan) => plan.edit(&Edit::Annotate(Target::Method(index), visible, value)),
        }
    }

    /// Renames a field or method, of this class or another, where this class declares or names it (capability
    /// `structure`).
    ///
    /// # Errors
    /// As [`Plan::add_field`].
    pub fn rename_member(&mut self, member: &Member, name: &str) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => structure::rename_member(plan, &member.reference(), name),
            Side::Native(plan) => plan.edit(&Edit::Rename(member, name)),
        }
    }

    /// Renames a type by its internal name wherever this class names it, descriptors, signatures and annotations
    /// included; strings stay as they are (capability `structure`).
    ///
    /// # Errors
    /// As [`Plan::add_field`], and for the class itself, which keeps its name.
    pub fn rename_type(&mut self, name: &str, to: &str) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => structure::rename_type(plan, name, to),
            Side::Native(plan) => plan.edit(&Edit::RenameType(name, to)),
        }
    }

    /// Adds an attribute that the JVM does not know to the class (capability `structure`); class files are read for it
    /// by whoever does.
    ///
    /// # Errors
    /// When the class has such an attribute, or the JVM gives the name a meaning (JVMS 4.7).
    pub fn add_class_attribute(&mut self, name: &str, contents: &[u8]) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => structure::add_class_attribute(plan, name, contents),
            Side::Native(plan) => plan.edit(&Edit::AddAttribute(Target::Class, name, contents)),
        }
    }

    /// Adds an attribute to a field that the class has (capability `structure`).
    ///
    /// # Errors
    /// As [`Plan::add_class_attribute`], and when there is no such field.
    pub fn add_field_attribute(
        &mut self,
        field: &str,
        descriptor: &str,
        name: &str,
        contents: &[u8],
    ) -> Result<(), Failure> {
        match self.sink.side() {
            Side::Host(plan) => {
                structure::add_field_attribute(plan, field, descriptor, name, contents)
            }
            Side::Native(plan) => {
                let target = Target::Field(field.to_owned(), descriptor.to_owned());
                plan.edit(&Edit::AddAttribute(target, name, contents))
            }
        }
    }

    /// Adds an attribute to a method (capability `structure`).
    ///
    /// # Errors
    /// As [`Plan::add_class_attribute`].
    pub fn add_method_attribute(
        &mut self,
        method: &MethodView<'_>,
        name: &str,
        contents: &[u8],
    ) -> Result<(), Failure> {
        let index = method.index();
        match self.sink.side() {
            Side::Host(plan) => structure::add_method_attribute(plan, index, name, contents),
            Side::Native(plan) => {
                plan.edit(&Edit::AddAttribute(Target::Method(index), name, contents))
            }
        }
    }

    /// A line for people: why something was done, or left undone, at a site.
    pub fn note(&mut self, at: Site, text: &str) {
        self.sink.note(at, text);
    }
}
