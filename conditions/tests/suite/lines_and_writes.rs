//! Conditions and lists for executed lines and written fields.

use conditions::{About, Condition, NamedField, Path, Program, Root, Show, Watch, WriteSite};

fn condition(text: &str, about: About) -> Result<String, String> {
    let parsed = Condition::parse_about(text, about);
    parsed
        .map(|found| found.to_string())
        .map_err(|mistake| mistake.expected().to_owned())
}

fn list(text: &str, about: About) -> Result<Vec<String>, String> {
    let parsed = Show::parse_list_about(text, about);
    parsed
        .map(|found| found.iter().map(Show::to_string).collect())
        .map_err(|mistake| mistake.expected().to_owned())
}

/// Parameters are requested by their names.
#[test]
fn parameter_is_read_by_its_name_and_unknown_names_have_no_value() {
    let watch = Watch {
        when: Condition::parse("order.id == 7 && thread != \"x\"").ok(),
        ..Watch::default()
    };
    let list = "order, count, nothing.a, depth, thread, order.id";
    let watch = watch.showing(list).expect("a list");
    assert_eq!(watch.names(), ["order", "count", "nothing"]);
    let names = ["order", "count"].map(str::to_owned);
    let program = Program::of_method(&watch, &names);
    let slots = program.slots().iter();
    let paths: Vec<(String, bool)> = slots
        .map(|slot| (slot.path.to_string(), slot.is_shown))
        .collect();
    let expected = [
        ("arg[0].id", true),
        ("arg[0]", true),
        ("arg[1]", true),
        ("nothing.a", true),
    ];
    assert_eq!(
        paths,
        expected.map(|(path, shown)| (path.to_owned(), shown))
    );
    let names: Vec<String> = program.names().collect();
    let expected = ["order.id", "order", "count", "nothing.a", "depth", "thread"];
    assert_eq!(names, expected);
    assert_eq!(
        program.computed().map(|it| it.0).collect::<Vec<_>>(),
        [4, 5]
    );
}

#[test]
fn names_are_those_of_local_variables_at_a_line() {
    for text in [
        "total > 3 && order.items[0].price == 1.5",
        "returned == null || duration == 1 || threw",
        "arg[0] == 1 && args.length > 2",
        "arg.name == \"x\" && args[1] == 2",
        "this.size > 3 && thread.startsWith(\"main\")",
        "text.length > 3 && text.contains(\"x\")",
    ] {
        assert_eq!(condition(text, About::Places).as_deref(), Ok(text));
    }
    let shown = "total, order.items[0].price, locals, this, arg[0], arg, thread.name, stack(2)";
    let expected: Vec<String> = shown.split(", ").map(str::to_owned).collect();
    assert_eq!(list(shown, About::Places), Ok(expected));
    assert!(list("total > 3", About::Places).is_err());
    let durations = condition("total > 100ms", About::Places);
    assert!(durations.is_err(), "{durations:?}");
}

#[test]
fn values_of_a_write_are_the_old_and_the_new_one_and_the_object() {
    let text = "new == \"CLOSED\" && old != null && object.id > 3 && this.name == \"x\"";
    assert_eq!(condition(text, About::Writes).as_deref(), Ok(text));
    let shown = list("object, old.id, new, stack(3)", About::Writes);
    assert_eq!(
        shown,
        Ok(["object", "old.id", "new", "stack(3)"]
            .map(str::to_owned)
            .to_vec())
    );
    for text in ["total", "returned", "thrown.x", "duration", "locals"] {
        let mistake = list(text, About::Writes).expect_err("no such value");
        assert!(
            mistake.contains("`old`, `new`, `object`"),
            "{text}: {mistake}"
        );
    }
    assert!(condition("total > 3", About::Writes).is_err());
    assert!(condition("old > 3", About::Calls).is_ok()); // a parameter
}

#[test]
fn values_of_a_line_are_read_from_variables() {
    let watch = Watch {
        about: About::Places,
        when: Condition::parse_about("total > 3 && this.size > 1", About::Places).ok(),
        ..Watch::default()
    };
    let watch = watch
        .showing("order.id, arg[1].name, locals")
        .expect("a list");
    let program = Program::of(&watch);
    assert_eq!(program.variables(), ["total", "this", "order", "arg[1]"]);
    assert!(program.shows_locals());
    let names: Vec<&str> = program
        .slots()
        .iter()
        .map(|slot| slot.name.as_str())
        .collect();
    assert_eq!(names, ["total", "this.size", "order.id", "arg[1].name"]);
    assert!(
        program
            .slots()
            .iter()
            .all(|slot| slot.path.root == Root::Local)
    );
    let (number, slot) = program.slots_of_variable(2).next().expect("one");
    assert_eq!((number, slot.path.from_root().len()), (2, 1));
}

/// The old value of a field is read from its object, with the field resolved as the instruction does.
#[test]
fn old_value_of_a_field_is_read_from_its_object() {
    let watch = Watch {
        about: About::Writes,
        ..Watch::default()
    };
    let watch = watch.showing("old.id, new").expect("a list");
    let site = |is_static| WriteSite {
        field: NamedField::new("a/Special", "state", "La/State;"),
        is_static,
        classes: vec!["a.Order".to_owned()],
    };
    let program = Program::of_write(&watch, &site(false));
    assert_eq!(program.variables(), ["object", "new"]);
    assert_eq!(program.slots()[0].path.to_string(), "object.state.id");
    assert_eq!(program.slots()[0].name, "old.id");
    let of_static = Program::of_write(&watch, &site(true));
    assert_eq!(of_static.variables(), ["old", "new", "class"]);
    assert_eq!(of_static.watch(), program.watch());
    let field = NamedField::new("a/Special", "state", "La/State;");
    assert_eq!(
        (field.owner(), field.name(), field.descriptor()),
        ("a/Special", "state", "La/State;")
    );
    assert_eq!(field.text(), "a/Special.state:La/State;");
    assert_eq!(Path::local("x").variable(), Some("x"));
}
