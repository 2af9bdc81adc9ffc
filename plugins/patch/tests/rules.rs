//! Tests the plugin with the rewriter's real views and rules.

use classhook_sdk::Transformer;
use classhook_sdk::guest::parse;
use classhook_testkit::{Harness, Transformed};
use plugin_patch::Patch;

const FAULTS: &[u8] = include_bytes!("Faults.class");

fn transform(rules: &str) -> Transformed {
    Harness::<Patch>::new(rules).transform(FAULTS)
}

fn refused(rules: &str) -> String {
    match Harness::<Patch>::try_config(rules) {
        Ok(_) => panic!("expected a refusal of {rules}"),
        Err(error) => error.to_string(),
    }
}

fn rule(method: &str, rest: &str) -> String {
    format!("[[rule]]\nmethod = \"{method}\"\n{rest}\n")
}

#[test]
fn each_kind_of_rule_has_its_plan() {
    let rules = [
        ("Faults.total", "what = \"return\""),
        (
            "Faults.balance",
            "what = { return = 42 }\nwhere = \"return\"",
        ),
        (
            "Faults.isOpen",
            "what = { return = true }\nprobability = 0.25",
        ),
        (
            "Faults.name",
            "what = { throw = \"java.lang.IllegalStateException\", message = \"injected\" }",
        ),
        ("Faults.close", "where = \"throw\"\nwhat = \"return\""),
        (
            "Faults.close",
            "where = \"call java.io.File.*\"\nwhat = { log = \"before delete\" }",
        ),
        ("Faults.letter", "what = { delay = 250 }"),
        (
            "Faults.rate",
            "where = \"return\"\nwhat = { call = \"com.acme.Faults.hit\" }",
        ),
    ];
    let text: String = rules
        .iter()
        .map(|(method, rest)| rule(method, rest))
        .collect();
    let transformed = transform(&text);
    transformed.assert_plan_file("tests/Faults.plan");
    assert!(transformed.splice().len() > FAULTS.len());
}

#[test]
fn every_action_can_be_taken_at_every_place() {
    let places = ["entry", "return", "throw", "call java.io.File.delete"];
    let actions = [
        "\"return\"",
        "{ throw = \"java.io.IOException\" }",
        "{ log = \"here\" }",
        "{ call = \"com.acme.Faults.hit\" }",
        "{ delay = 1 }",
    ];
    for place in places {
        for what in actions {
            for chance in ["", "probability = 0.5"] {
                if place.starts_with("call") && what == "\"return\"" {
                    continue;
                }
                let rest = format!("where = \"{place}\"\nwhat = {what}\n{chance}");
                let transformed = transform(&rule("Faults.*", &rest));
                assert!(transformed.splice().len() > FAULTS.len(), "{rest}");
            }
        }
    }
}

#[test]
fn constant_takes_the_type_of_its_method() {
    for (method, value) in [
        ("isOpen", "true"),
        ("balance", "-7"),
        ("total", "9000000000"),
        ("name", "'x'"),
        ("letter", "'x'"),
        ("letter", "65"),
        ("rate", "1"),
        ("rate", "1.5"),
    ] {
        for place in ["entry", "return"] {
            let rest = format!("where = \"{place}\"\nwhat = {{ return = {value} }}");
            let transformed = transform(&rule(&format!("Faults.{method}"), &rest));
            assert!(
                transformed.splice().len() > FAULTS.len(),
                "{method} {value}"
            );
        }
    }
}

#[test]
fn rule_that_does_not_fit_a_method_adds_a_note() {
    let plan = |method: &str, what: &str| transform(&rule(method, what)).to_string();
    let text = plan("*.values", "what = { return = 1 }");
    assert!(
        text.contains("no effect: expected a constant of the method's type int[], found 1"),
        "{text}"
    );
    let text = plan("*.balance", "what = { return = 5000000000 }");
    assert!(
        text.contains("no effect: expected a constant of the method's type int, found 5000000000"),
        "{text}"
    );
    let text = plan("*.<init>", "what = \"return\"");
    assert!(
        text.contains("no effect: a constructor cannot return"),
        "{text}"
    );
    let text = plan("*.nothing", "what = \"return\"");
    assert_eq!(text, "");
}

#[test]
fn errors_have_their_place() {
    for (rules, expected) in [
        (String::new(), "rule: expected at least one rule"),
        (
            rule("A.f", "what = { dealy = 5 }"),
            "rule[0].what.dealy: unknown field `dealy`",
        ),
        (
            rule("A.f", "what = \"retrun\""),
            "rule[0].what: invalid value",
        ),
        (
            rule("A.f", "what = { log = 'x', delay = 5 }"),
            "rule[0].what: expected one of",
        ),
        (
            rule("A.f", "what = { message = 'x' }"),
            "rule[0].what.message: only an exception",
        ),
        (
            rule("A.f", "what = \"return\"\nwhere = \"entri\""),
            "rule[0].where: unknown place `entri`",
        ),
        (
            rule("A.f", "what = \"return\"\nwhen = \"entry\""),
            "rule[0].when: unknown field `when`",
        ),
        (
            rule("A.", "what = \"return\""),
            "rule[0].method: the pattern `A.` names nothing",
        ),
        (
            rule("A.f", "what = \"return\"\nprobability = 0"),
            "rule[0].probability: expected a number above 0",
        ),
        (
            rule("A.f", "what = { delay = 99999999 }"),
            "rule[0].what.delay: expected at most",
        ),
        (
            rule("A.f", "what = { throw = 'a b' }"),
            "rule[0].what.throw: expected a class",
        ),
        (
            rule("A.f", "what = { call = 'hit' }"),
            "rule[0].what.call: expected a static method",
        ),
        (
            rule("A.f()I", "what = { return = 'x' }"),
            "rule[0].what.return: expected a constant of the method's type int, found \"x\"",
        ),
        (
            rule("A.f(I", "what = \"return\""),
            "rule[0].method: `(I` is no descriptor",
        ),
        (
            rule("A.f", "what = { throw = 'java.io.IOExcepton' }"),
            "rule[0].what.throw: the JDK has no exception `java.io.IOExcepton`; nearest: java.io.IOException",
        ),
        (rule("A.f", ""), "missing field `what`"),
        (
            rule("A.f", "what = \"return\"")
                + &rule("A.f", "where = 'call A.g'\nwhat = \"return\""),
            "rule[1].what: a call cannot be made to return",
        ),
    ] {
        let found = refused(&rules);
        assert!(
            found.contains(expected),
            "expected {expected:?}, found {found:?}"
        );
    }
}

#[test]
fn rule_without_effect_in_its_only_class_is_rejected() {
    for (method, rest, expected) in [
        (
            "Faults.balence",
            "what = \"return\"",
            "rule[0].method: Faults has no method `balence` with code of its own; nearest: balance()I",
        ),
        (
            "Faults.balance()J",
            "what = \"return\"",
            "rule[0].method: Faults has no method `balance()J`",
        ),
        (
            "Faults.values",
            "what = { return = 1 }",
            "rule[0].what: expected a constant of the method's type int[], found 1",
        ),
        (
            "Faults.close",
            "what = { log = 'x' }\nwhere = 'call java.io.File.delte'",
            "rule[0].where: close makes no such call",
        ),
    ] {
        transform(&rule(method, rest)).assert_error(expected);
    }
    let both =
        rule("Faults.balance", "what = \"return\"") + &rule("Faults.nothing", "what = \"return\"");
    transform(&both).assert_error("rule[1].method");
}

#[test]
fn classes_of_the_rules_are_selected() {
    let rule = |method: &str| format!(r#"{{"method":"{method}","what":"return"}}"#);
    let rules = [
        rule("com.acme.*Service.get*"),
        rule("com.acme.*Service.set"),
    ]
    .join(",");
    let patch = parse::<Patch>(&format!(r#"{{"rule":[{rules}]}}"#)).unwrap();
    assert_eq!(patch.select(), ["com.acme.*Service"]);
}
