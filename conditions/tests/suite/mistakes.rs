//! Messages for invalid texts.

use conditions::{Condition, Mistake, Show, Watch};
use insta::assert_snapshot;

fn shown<T>(text: &str, result: Result<T, Mistake>) -> String {
    let mistake = result.err().unwrap_or_else(|| panic!("{text} is right"));
    let help = mistake
        .help()
        .map_or_else(String::new, |help| format!("\nhelp: {help}"));
    format!("{mistake}{help}\n")
}

#[test]
fn mistakes_in_conditions_are_shown_with_their_span() {
    let texts = [
        "",
        "duration > 100",
        "duration > arg[0]",
        "arg[0] > 100ms",
        "duration = 5ms",
        "duration >",
        "duration 5ms",
        "threw &",
        "threw and threw",
        "arg > 5",
        "arg[x]",
        "arg[255] == 1",
        "args.size == 1",
        "thrown == null",
        "thrown > \"a\"",
        "thrown == java.io.IOException",
        "time > 5ms",
        "arg[0] == 'abc'",
        "arg[0] == \"abc",
        "arg[0] == \"\\x\"",
        "arg[0] == 5x",
        "arg[0] == 99999999999999999999",
        "duration > 99999999999s",
        "(threw",
        "threw)",
        "!arg[0] == 1",
        "(threw) == true",
        "!(threw) == true",
        "arg[0].toString() == \"x\"",
        "depth.contains(\"x\")",
        "this.name.contains(5)",
        "this.class.name == \"x\"",
        "this. == 1",
        "1 < depth < 3",
        "null",
        "\"ä\" == \"ö\" && durchschnitt.contains(5)",
        "threw\n  && §",
        "this.a.b.c.d.e.f.g.h.i == 1",
    ];
    let all: Vec<String> = texts
        .iter()
        .map(|text| shown(text, Condition::parse(text)))
        .collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn mistakes_in_lists_are_shown_with_their_span() {
    let texts = [
        "",
        "arg,",
        "stack",
        "stack(0)",
        "stack(101)",
        "this.size returned",
        "5",
        "arg.x",
        "args.size",
    ];
    let all: Vec<String> = texts
        .iter()
        .map(|text| shown(text, Show::parse_list(text)))
        .collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn size_of_conditions_is_bounded() {
    let deep = format!("{}threw{}", "(".repeat(33), ")".repeat(33));
    let many = vec!["threw"; 129].join(" && ");
    let wide: Vec<String> = (0..65).map(|index| format!("arg[{index}]")).collect();
    let long = format!("arg[0] == \"{}\"", "x".repeat(1_025));
    let longer = format!("threw{}", " ".repeat(4_096));
    let found = |mistake: Mistake| format!("{} / {}\n", mistake.expected(), mistake.found());
    let refused = |text: &str| Condition::parse(text).map_err(found).unwrap_err();
    let half = |from, to| wide[from..to].join(", ");
    let when = Condition::parse(&wide[..40].join(" && ")).expect("right");
    let watch = Watch {
        when: Some(when),
        ..Watch::default()
    };
    let texts = [
        refused(&deep),
        refused(&many),
        refused(&wide.join(" && ")),
        refused(&long),
        refused(&longer),
        Show::parse_list(&half(0, 65)).map_err(found).unwrap_err(),
        watch
            .clone()
            .showing(&half(40, 65))
            .map_err(found)
            .unwrap_err(),
    ];
    assert!(watch.showing(&half(0, 64)).is_ok());
    assert_snapshot!(texts.concat());
}

#[test]
fn column_counts_characters() {
    let mistake = Condition::parse("\"äöü\" == \"\" && args.x").expect_err("no value");
    assert_eq!(mistake.column(), 21);
}
