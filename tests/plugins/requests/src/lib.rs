//! A plugin that makes the one request of its configuration, in a class with a native method, a
//! method with a call and a constructor. The answer must be the same natively and in WebAssembly.

use classhook_sdk::access_flags::{ACC_PUBLIC, ACC_STATIC};
use classhook_sdk::descriptor::Parameters;
use classhook_sdk::edit::Member;
use classhook_sdk::edit::{Annotation, Constant, Field, Value, Visibility};
use classhook_sdk::opcode::{GOTO, IF_ICMPEQ, INVOKESTATIC, IRETURN, POP, RETURN};
use classhook_sdk::prelude::*;

use methods::{caller, entries};

mod helpers;
mod methods;

/// The plugin's table in `classhook.toml`.
#[derive(Config)]
pub struct Settings {
    request: String,
}

/// The plugin.
pub struct Requests(fn(&Class<'_>, &mut Plan<'_>) -> Result);

/// One request, and its name in the configuration.
type Request = (&'static str, fn(&Class<'_>, &mut Plan<'_>) -> Result);

/// Every request; those that succeed come first.
pub const REQUESTS: &[Request] = &[
    ("nothing", |_, _| Ok(())),
    ("hits", hits),
    ("counts", counts),
    ("spans", spans),
    ("events", events),
    ("notes", notes),
    ("type-names", type_names),
    ("rows", |class, plan| {
        let row = FOUND.row(&["one", "2"]);
        plan.count(&entries(class), &row)?;
        Ok(())
    }),
    ("row-with-too-few-cells", |class, plan| {
        plan.count(&entries(class), FOUND.row(&["one"]))?;
        Ok(())
    }),
    ("declared-annotations", |class, plan| {
        let all = class.annotations_of(&[]);
        all.iter().for_each(|found| say(class, plan, found));
        let parts = class.annotations_of(&["LDeclared$Part;"]);
        say(class, plan, &parts.len());
        for method in class.methods() {
            say(class, plan, &method.annotations_of(&[]));
        }
        Ok(())
    }),
    ("declared-defaults", |class, _| {
        let default =
            |method: Method<'_>| format!("{}: {:?}\n", method.name(), method.annotation_default());
        Err(class.methods().map(default).collect::<String>().into())
    }),
    ("declared-rest", |class, plan| {
        say(class, plan, &class.inner_classes());
        say(class, plan, &class.enclosing_method());
        say(class, plan, &class.components());
        say(class, plan, &class.permitted_subclasses());
        say(class, plan, &(class.nest_host(), class.nest_members()));
        for method in class.methods() {
            say(class, plan, &(method.parameters(), method.exceptions()));
        }
        Ok(())
    }),
    ("declared-code", |class, plan| {
        say(class, plan, &class.calls("java.lang.Integer.*")?);
        say(class, plan, &class.field_accesses("Declared.*")?);
        say(class, plan, &class.allocations("**")?);
        say(class, plan, &class.strings("select *")?);
        say(class, plan, &class.strings("made*")?);
        say(class, plan, &class.dynamic_calls("**")?);
        for method in class.methods() {
            say(class, plan, &(method.loops()?, method.calls(|_| true)?));
        }
        Ok(())
    }),
    ("no-pattern", |class, plan| {
        say(class, plan, &class.calls("a b.c")?);
        Ok(())
    }),
    ("insert", insert),
    ("wrap", wrap),
    ("around", around),
    ("remove", remove),
    ("structure", structure),
    ("annotation", annotation),
    ("attributes", attributes),
    ("type-name", type_name),
    ("replace", |class, plan| {
        replace(class, plan, &other_file(class))
    }),
    ("replace-and-hits", |class, plan| {
        hits(class, plan)?;
        replace(class, plan, &other_file(class))
    }),
    ("replace-with-nothing", |class, plan| {
        replace(class, plan, b"")
    }),
    ("replace-with-a-part", |class, plan| {
        let bytes = class.bytes();
        replace(class, plan, &bytes[..bytes.len() / 2])
    }),
    ("replace-with-a-newer-version", |class, plan| {
        let mut bytes = class.bytes();
        bytes[7] += 1;
        replace(class, plan, &bytes)
    }),
    ("replace-with-another-class", |class, plan| {
        replace(class, plan, &renamed(class))
    }),
    ("replace-with-much", |class, plan| {
        let mut bytes = class.bytes();
        bytes.resize(17 << 20, 0);
        replace(class, plan, &bytes)
    }),
    ("replace-with-code-that-does-not-fit", |class, plan| {
        // iconst_1 becomes aconst_null.
        replace(class, plan, &patched(class, 1))
    }),
    ("replace-twice", |class, plan| {
        replace(class, plan, &other_file(class))?;
        replace(class, plan, &other_file(class))
    }),
    ("replace-and-structure", |class, plan| {
        replace(class, plan, &other_file(class))?;
        structure(class, plan)
    }),
    ("structure-and-replace", |class, plan| {
        structure(class, plan)?;
        replace(class, plan, &other_file(class))
    }),
    ("helpers", helpers::tally),
    ("helpers-without-edits", helpers::without_edits),
    ("helpers-and-structure", helpers::and_structure),
    ("helpers-and-hits", helpers::and_hits),
    ("helpers-of-the-future", helpers::of_the_future),
    ("helpers-without-the-method", helpers::without_the_method),
    ("helpers-with-another-method", helpers::with_another_method),
    ("helpers-in-part", helpers::in_part),
    ("helpers-of-two-versions", helpers::of_two_versions),
    ("helpers-that-are-text", helpers::that_are_text),
    ("helpers-too-old", helpers::too_old),
    ("helpers-twice", helpers::twice),
    ("helpers-of-another", helpers::of_another),
    ("helpers-not-sound", helpers::not_sound),
    ("helpers-many", helpers::many),
    ("helpers-large", helpers::large),
    ("go-on-when-refused", go_on_when_refused),
    ("no-instruction", no_instruction),
    ("no-jump", no_jump),
    ("event-nowhere", event_nowhere),
    ("no-method", no_method),
    ("no-code", no_code),
    ("hit-of-an-instruction", hit_of_an_instruction),
    ("change-of-an-entry", change_of_an_entry),
    ("unsuitable-change", unsuitable_change),
    ("unsuitable-code", unsuitable_code),
    ("unsuitable-body", unsuitable_body),
    ("wrap-around-return", wrap_around_return),
    ("around-return", around_return),
    ("no-operand", no_operand),
    ("operand-nowhere", operand_nowhere),
    ("foreign-label", foreign_label),
    ("no-opcode", no_opcode),
    ("field-twice", field_twice),
    ("own-name", own_name),
    ("no-type-name", no_type_name),
    ("known-attribute", known_attribute),
    ("attribute-twice", attribute_twice),
    ("two-spans", two_spans),
    ("no-argument", no_argument),
    ("event-without-argument", event_without_argument),
    ("event-without-operand", event_without_operand),
    ("event-without-this", event_without_this),
    ("event-of-nothing-on-the-stack", event_of_nothing),
    ("event-of-a-number-as-an-object", |class, plan| {
        let event = Event::default().operand("a", 0);
        let event = event.instance_of("java/io/Closeable");
        plan.event(&caller(class)?.at(&[1]), &event, b"")?;
        Ok(())
    }),
    ("event-of-a-test-for-no-type", |class, plan| {
        let event = Event::default().this("a").instance_of("java.io.Closeable");
        event_of(class, plan, event)
    }),
    ("event-of-a-variable-without-name", |class, plan| {
        event_of(class, plan, Event::default().variable("a", "nobody"))
    }),
    ("event-of-a-slot-that-is-not-set", |class, plan| {
        event_of(class, plan, Event::default().slot("a", 7, "I"))
    }),
    ("event-of-a-slot-of-no-type", |class, plan| {
        event_of(class, plan, Event::default().slot("a", 0, "L;"))
    }),
    ("event-of-a-slot-where-it-is-left", |class, plan| {
        let event = Event::default().slot("a", 0, "I");
        plan.event(&[caller(class)?.unwind()], &event, b"")
            .map(drop)
            .map_err(Into::into)
    }),
    ("event-of-a-slot-beside-operands", |class, plan| {
        let event = Event::default().stack("a").slot("b", 0, "I");
        plan.event(&caller(class)?.at(&[1]), &event, b"")
            .map(drop)
            .map_err(Into::into)
    }),
    (
        "event-with-an-operand-at-the-entry",
        event_with_operand_at_entry,
    ),
    ("event-with-a-name-twice", event_with_a_name_twice),
    ("event-with-many-values", event_with_many_values),
    ("event-without-code", event_without_code),
    ("two-events-of-an-instruction", two_events),
    ("event-and-change-of-an-instruction", event_and_change),
    ("change-and-event-of-an-instruction", change_and_event),
    ("many-edits", many_edits),
    ("many-tags", many_tags),
    ("much-code", much_code),
    ("large-annotation", large_annotation),
    ("large-nested-annotation", large_nested_annotation),
];

/// The results of queries.
const FOUND: Table = Table {
    name: "found",
    columns: &[
        ("what", ColumnKind::Text),
        ("how-often", ColumnKind::Integer),
    ],
};

impl Transformer for Requests {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        let found = REQUESTS.iter().find(|(name, _)| *name == settings.request);
        let (_, request) = found.ok_or("there is no such request")?;
        Ok(Self(*request))
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        (self.0)(class, plan)
    }
}

fn hits(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.hit(&entries(class), b"entry")?;
    let locations = [
        Location::Before(Bci(1)),
        Location::FallThrough(Bci(1)),
        Location::Unwind,
    ];
    let method = caller(class)?;
    let points = locations.map(|location| method.point(location));
    assert_eq!(plan.hit(&points, b"")?, 2);
    Ok(())
}

fn counts(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.count(&entries(class), b"\xff")?;
    plan.count(&caller(class)?.returns(), b"")?;
    Ok(())
}

fn spans(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let capture = Capture::default().arguments().returned().limit(5_000);
    for method in class.methods() {
        plan.span(&method, &capture, b"span")?;
    }
    Ok(())
}

/// Adds a note at the first method with code.
fn say(class: &Class<'_>, plan: &mut Plan<'_>, what: &dyn std::fmt::Debug) {
    if let Some(method) = class.methods_with_code().next() {
        plan.note(method.entry(), &format!("{what:?}"));
    }
}

fn notes(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let method = caller(class)?;
    plan.note(method.entry(), &"é".repeat(4_000));
    for number in 0..150 {
        plan.note(method.entry(), &format!("note {number}"));
    }
    Ok(())
}

fn type_names(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let method = caller(class)?;
    for index in 0..90 {
        if let Some(name) = method.type_name(index) {
            plan.note(method.entry(), &format!("{index} names {name}"));
        }
    }
    for field in class.fields() {
        plan.note(method.entry(), &format!("{field:?}"));
    }
    // The attribute has two bytes, the index of its text.
    if let Some(&[high, low]) = class.attribute("SourceFile").as_deref() {
        let name = class.pool_text(u16::from_be_bytes([high, low]));
        plan.note(method.entry(), &format!("{name:?}"));
    }
    Ok(())
}

fn insert(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut code = Snippet::new();
    code.push_string("text").op(POP, 0);
    Ok(plan.insert(&entries(class), &code)?)
}

fn wrap(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let (mut before, after) = (Snippet::new(), Snippet::new());
    before.push_int(1).op(POP, 0);
    Ok(plan.wrap(&caller(class)?.at(&[1]), &before, &after)?)
}

/// Skips the call if its argument is 5.
fn around(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut code = Snippet::new();
    let (other, end) = (code.new_label(), code.new_label());
    code.load_operand(0).push_int(5).jump(IF_ICMPEQ, other);
    code.proceed().jump(GOTO, end);
    code.place(other).push_int(0).place(end);
    Ok(plan.around(&caller(class)?.at(&[1]), &code)?)
}

fn remove(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let call = caller(class)?.at(&[1]);
    Ok(plan.remove(&call, Some(&Constant::Integer(7)))?)
}

fn field() -> Field {
    Field::new(ACC_PUBLIC | ACC_STATIC, "added", "J").with_value(Constant::Long(1))
}

fn structure(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.add_field(&field())?;
    plan.add_interface("java/io/Serializable")?;
    let member = Member::of_class(&class.name(), "both", "()I");
    Ok(plan.rename_member(&member, "renamed")?)
}

fn annotation(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut inner = Annotation::new("La/Inner;");
    inner.put("one", Value::Byte(1));
    let mut outer = Annotation::new("La/Outer;");
    outer
        .nest("inner", inner.clone())
        .nest_array("all", vec![inner.clone(), inner]);
    Ok(plan.annotate_class(Visibility::Visible, &outer)?)
}

fn attributes(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.add_class_attribute("com.acme.Note", b"class")?;
    let method = caller(class)?;
    Ok(plan.add_method_attribute(&method, "com.acme.Note", b"")?)
}

fn type_name(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    Ok(plan.rename_type("java/lang/Object", "com/acme/Object")?)
}

fn replace(_: &Class<'_>, plan: &mut Plan<'_>, bytes: &[u8]) -> Result {
    Ok(plan.replace_class(bytes)?)
}

/// Returns the class file with another first instruction in the method `both`.
fn patched(class: &Class<'_>, opcode: u8) -> Vec<u8> {
    let mut bytes = class.bytes();
    // iconst_1, invokestatic
    let at = bytes
        .windows(2)
        .position(|code| code == [0x04, INVOKESTATIC]);
    if let Some(first) = at.and_then(|at| bytes.get_mut(at)) {
        *first = opcode;
    }
    bytes
}

/// Returns the class file in which `both` calls with 2.
fn other_file(class: &Class<'_>) -> Vec<u8> {
    patched(class, 0x05)
}

/// Returns the class file with another last letter in its name.
fn renamed(class: &Class<'_>) -> Vec<u8> {
    let (name, mut bytes) = (class.name(), class.bytes());
    let entry = [&[1, 0, name.len() as u8], name.as_bytes()].concat();
    let at = bytes.windows(entry.len()).position(|found| found == entry);
    if let Some(last) = at.and_then(|at| bytes.get_mut(at + entry.len() - 1)) {
        *last = b'Z';
    }
    bytes
}

fn own_name(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    Ok(plan.rename_type(&class.name(), "com/acme/Other")?)
}

fn no_type_name(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    Ok(plan.rename_type("java.lang.Object", "com/acme/Object")?)
}

fn known_attribute(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    Ok(plan.add_class_attribute("NestHost", &[0, 1])?)
}

fn attribute_twice(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.add_class_attribute("com.acme.Note", b"one")?;
    Ok(plan.add_class_attribute("com.acme.Note", b"two")?)
}

/// Makes rejected requests, which must leave nothing behind.
fn go_on_when_refused(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let method = caller(class)?;
    let half = [method.entry(), nowhere()];
    assert!(plan.hit(&half, b"tag").is_err());
    assert!(plan.count(&half, b"tag").is_err());
    let mut code = Snippet::new();
    code.push_string("text").op(POP, 0);
    assert!(plan.insert(&half, &code).is_err());
    assert_eq!(plan.hit(&[method.entry()], b"")?, 0);
    Ok(())
}

/// Returns a point in a method that does not exist.
fn nowhere() -> InsertionPoint {
    InsertionPoint {
        method: MethodIndex(99),
        location: Location::Before(Bci(1)),
    }
}

fn no_instruction(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.count(&caller(class)?.before(&[0, 2]), b"")?;
    Ok(())
}

fn no_jump(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.hit(&[caller(class)?.jump(0, 1)], b"")?;
    Ok(())
}

fn no_method(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.hit(&[nowhere()], b"")?;
    Ok(())
}

fn event_nowhere(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.event(&[nowhere()], &Event::default(), b"")?;
    Ok(())
}

fn no_code(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    for method in class.methods().filter(|method| !method.has_code()) {
        plan.hit(&[method.entry()], b"")?;
    }
    Ok(())
}

fn hit_of_an_instruction(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.hit(&caller(class)?.at(&[1]), b"")?;
    Ok(())
}

fn change_of_an_entry(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    Ok(plan.remove(&[caller(class)?.entry()], None)?)
}

fn unsuitable_change(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let target = Member::of_class("com/acme/Other", "twice", "(J)I");
    Ok(plan.redirect_call(&caller(class)?.at(&[1]), INVOKESTATIC, &target)?)
}

fn unsuitable_code(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut code = Snippet::new();
    code.push_int(1);
    Ok(plan.insert(&entries(class), &code)?)
}

fn unsuitable_body(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let method = caller(class)?;
    Ok(plan.replace_body(&method, &Snippet::new())?)
}

fn wrap_around_return(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let (before, after) = (Snippet::new(), Snippet::new());
    Ok(plan.wrap(&caller(class)?.at(&[4]), &before, &after)?)
}

fn around_return(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut code = Snippet::new();
    code.proceed();
    Ok(plan.around(&caller(class)?.at(&[4]), &code)?)
}

fn no_operand(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut code = Snippet::new();
    code.load_operand(9).op(POP, 0).proceed();
    Ok(plan.around(&caller(class)?.at(&[1]), &code)?)
}

fn operand_nowhere(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut code = Snippet::new();
    code.load_operand(0).op(POP, 0);
    Ok(plan.insert(&entries(class), &code)?)
}

fn foreign_label(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let foreign = Snippet::new().new_label();
    let mut code = Snippet::new();
    code.place(foreign);
    Ok(plan.insert(&entries(class), &code)?)
}

fn no_opcode(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut code = Snippet::new();
    code.op(0xfe, 0);
    Ok(plan.insert(&entries(class), &code)?)
}

fn field_twice(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.add_field(&field())?;
    Ok(plan.add_field(&field())?)
}

fn two_spans(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let method = caller(class)?;
    plan.span(&method, &Capture::default(), b"")?;
    plan.span(&method, &Capture::default().sum_up(), b"")?;
    Ok(())
}

fn no_argument(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let method = caller(class)?;
    plan.span(&method, &Capture::default().argument(3), b"")?;
    Ok(())
}

/// Records every available value of each method: at its entry, before it returns, when an exception
/// leaves it, and at its calls of methods of the class.
fn events(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    for method in class.methods().filter(Method::has_code) {
        let is_static = method.access_flags() & ACC_STATIC != 0;
        let place = Constant::Text(method.name().to_owned());
        let mut entry = Event::default().constant("place", place).limit(10);
        if !is_static && method.name() != "<init>" {
            entry = entry.this("this");
        }
        for index in 0..parameters(method.descriptor()) {
            entry = entry.argument(&format!("argument{index}"), index);
        }
        plan.event(&[method.entry()], &entry.per_second(100), b"entry")?;
        for instruction in method.instructions()? {
            if (IRETURN..RETURN).contains(&instruction.opcode) {
                let sites = method.before(&[instruction.bci]);
                plan.event(&sites, &Event::default().stack("returned"), b"")?;
            }
        }
        let thrown = Event::default()
            .stack("thrown")
            .constant("long", Constant::Long(7));
        plan.event(&[method.unwind()], &thrown, b"")?;
        if ["main", "numbers", "stopped"].contains(&method.name()) {
            try_variables(&method, plan)?;
        }
        for call in method.calls(|it| it.owner == class.name() && it.name != "<init>")? {
            let receiver = u8::from(call.opcode != INVOKESTATIC);
            let mut event = Event::default();
            for index in 0..parameters(&call.target.descriptor) + receiver {
                event = event.operand(&format!("operand{index}"), index);
            }
            if receiver == 1 {
                event = event.operand("closes", 0).instance_of("java/io/Closeable");
            }
            if !call.target.descriptor.ends_with('V') {
                event = event.stack("given");
            }
            plan.event(&method.at(&[call.bci]), &event, b"")?;
            if method.name() == "calls" {
                let variables = Event::default().variable("number", "number");
                let variables = variables
                    .slot("before", 2, "J")
                    .variable("object", "events");
                plan.event(&method.before(&[call.bci]), &variables, b"")?;
            }
        }
    }
    Ok(())
}

/// Records each slot as each type in front of each instruction; missing ones are rejected.
fn try_variables(method: &Method<'_>, plan: &mut Plan<'_>) -> Result {
    for instruction in method.instructions()? {
        let sites = method.before(&[instruction.bci]);
        for slot in 0..12 {
            for kind in ["I", "J", "F", "D", "Ljava/lang/Object;"] {
                let tried = Event::default().slot("tried", slot, kind);
                let _refused = plan.event(&sites, &tried, b"");
            }
        }
    }
    Ok(())
}

fn parameters(descriptor: &str) -> u8 {
    u8::try_from(Parameters::of(descriptor.as_bytes()).count()).unwrap_or(u8::MAX)
}

fn event_without_argument(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.event(
        &[caller(class)?.entry()],
        &Event::default().argument("a", 3),
        b"",
    )?;
    Ok(())
}

fn event_without_operand(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let event = Event::default().operand("a", 1);
    plan.event(&caller(class)?.at(&[1]), &event, b"")?;
    Ok(())
}

fn event_without_this(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.event(&entries(class), &Event::default().this("a"), b"")?;
    Ok(())
}

fn event_of_nothing(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.event(&[caller(class)?.entry()], &Event::default().stack("a"), b"")?;
    Ok(())
}

/// Records an event in front of the caller's last instruction.
fn event_of(class: &Class<'_>, plan: &mut Plan<'_>, event: Event) -> Result {
    let sites = caller(class)?.before(&[4]);
    plan.event(&sites, &event, b"")?;
    Ok(())
}

fn event_with_operand_at_entry(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let event = Event::default().operand("a", 0);
    plan.event(&[caller(class)?.entry()], &event, b"")?;
    Ok(())
}

fn event_with_a_name_twice(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let event = Event::default().this("a").this("a");
    plan.event(&[caller(class)?.entry()], &event, b"")?;
    Ok(())
}

fn event_with_many_values(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let event = (0..17).fold(Event::default(), |event, number| {
        event.this(&format!("v{number}"))
    });
    plan.event(&[caller(class)?.entry()], &event, b"")?;
    Ok(())
}

fn event_without_code(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut methods = class.methods();
    let native = methods
        .find(|method| !method.has_code())
        .ok_or("no such method")?;
    plan.event(&[native.entry()], &Event::default(), b"")?;
    Ok(())
}

fn two_events(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let sites = caller(class)?.at(&[1]);
    plan.event(&sites, &Event::default(), b"")?;
    plan.event(&sites, &Event::default().operand("a", 0), b"")?;
    plan.event(&sites, &Event::default().stack("a"), b"")?;
    Ok(())
}

fn event_and_change(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let sites = caller(class)?.at(&[1]);
    plan.event(&sites, &Event::default().stack("a"), b"")?;
    Ok(plan.remove(&sites, None)?)
}

fn change_and_event(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let sites = caller(class)?.at(&[1]);
    plan.remove(&sites, None)?;
    plan.event(&sites, &Event::default().stack("a"), b"")?;
    Ok(())
}

fn many_edits(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let entry = caller(class)?.entry();
    plan.hit(&vec![entry; 65_536], b"")?;
    plan.count(&[entry], b"")?;
    Ok(())
}

fn many_tags(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let (entry, tag) = ([caller(class)?.entry()], vec![7; 600 << 10]);
    plan.hit(&entry, &tag)?;
    plan.hit(&entry, &tag)?;
    Ok(())
}

fn much_code(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut code = Snippet::new();
    for _ in 0..5 {
        code.push_string(&"x".repeat(50_000)).op(POP, 0);
    }
    let entry = [caller(class)?.entry()];
    for _ in 0..17 {
        plan.insert(&entry, &code)?;
    }
    Ok(())
}

fn large_annotation(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut large = Annotation::new("La/Large;");
    for name in ["one", "two"] {
        large.put(name, Value::Text("x".repeat(600 << 10)));
    }
    Ok(plan.annotate_class(Visibility::Visible, &large)?)
}

fn large_nested_annotation(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut inner = Annotation::new("La/Inner;");
    inner.put("text", Value::Text("x".repeat(400 << 10)));
    let mut outer = Annotation::new("La/Outer;");
    outer.nest_array("all", vec![inner.clone(), inner.clone(), inner]);
    Ok(plan.annotate_class(Visibility::Visible, &outer)?)
}

classhook_sdk::export!(Requests);
