//! Requested values that do not exist: reported with the nearest name, and at the start if the classes are known.

use super::lines::{Rounds, classes, line_of};
use super::opened;
use crate::support::command::{assert_no_agent, classhook};
use e2e_tests::jdks;

/// A field that no loaded class has ends the command before the first output, also within a path.
#[test]
fn field_that_no_class_has_is_an_error_at_the_start_of_a_running_jvm() {
    for jdk in jdks::main_two() {
        let rounds = Rounds::start(&jdk, classes(), "Lines");
        for (show, found, nearest) in [
            (
                "this.nme",
                "this.nme: Lines has no field `nme`",
                "nearest  name",
            ),
            (
                "order.idd",
                "order.idd: Lines$Order has no field `idd`",
                "nearest  id",
            ),
            (
                "arg[0].idd",
                "arg[0].idd: Lines$Order has no field `idd`",
                "nearest  id",
            ),
            (
                "order.id.x",
                "order.id.x: java.lang.String has no field `x`",
                "",
            ),
            (
                "factor.x",
                "factor.x: a primitive value has no fields and elements",
                "",
            ),
            (
                "weights.size",
                "weights.size: an array has no field `size`",
                "",
            ),
        ] {
            let run = classhook(&["watch", &rounds.pid, "Lines.total", "--show", show]);
            run.assert_exit(2)
                .assert_stderr("error[H0638]")
                .assert_stderr(found)
                .assert_stderr(nearest);
            assert!(run.stdout.is_empty(), "{}", run.report());
            assert_no_agent(&rounds.pid);
        }
        let run = classhook(&[
            "watch",
            &rounds.pid,
            "Lines.total",
            "--when",
            "ordr.id == 1",
        ]);
        run.assert_exit(2)
            .assert_stderr("error[H0657]: no method has a parameter `ordr`")
            .assert_stderr("nearest  order");
        let words = ["--show", "order.id, order.items[0].price", "--limit", "1"];
        let run = classhook(&[&["watch", &rounds.pid, "Lines.total"][..], &words].concat());
        run.assert_success().assert_stderr("1 call shown");
        rounds.end();
    }
}

/// Classes of a started program are not known before. A line at the end reports it, once, for matching and other calls.
#[test]
fn value_that_was_never_found_is_reported_once_at_the_end() {
    let jdk = jdks::newest();
    let words = [
        "--when",
        "name == \"object\"",
        "--show",
        "value.statsu.x, value.id, name[0]",
    ];
    let run = opened::watch(&jdk, &words, &[]);
    run.assert_exit(3)
        .assert_stderr("error[H0638]: a requested value is in no call")
        .assert_stderr("value.statsu.x: Opened$Order has no field `statsu`")
        .assert_stderr("nearest  value.status.x")
        .assert_stderr("name[0]: java.lang.String has no elements")
        .assert_stderr("1 call shown");
    assert_eq!(
        run.stderr.matches("`statsu`").count(),
        1,
        "{}",
        run.report()
    );
    let run = opened::watch(&jdk, &["--when", "value.statsu == \"PAID\""], &[]);
    run.assert_exit(3)
        .assert_stderr("has no field `statsu`")
        .assert_stderr("0 calls shown");
    // One class with the field is enough.
    let run = opened::watch(&jdk, &["--show", "value.id, value.origin.length"], &[]);
    run.assert_success();
}

/// The simple name of a class leads to a message with its full name.
#[test]
fn method_of_a_simple_class_name_is_reported_with_its_package() {
    let rounds = Rounds::start(&jdks::newest(), classes(), "Lines");
    let words = ["watch", &rounds.pid, "Order.total", "--for", "10ms"];
    classhook(&words)
        .assert_exit(2)
        .assert_stderr("nearest  Lines$Order.total");
    rounds.end();
}

/// An unknown variable of a line is reported once, regardless of the number of its places.
#[test]
fn unknown_variable_of_a_line_with_several_places_is_reported_once() {
    let rounds = Rounds::start(&jdks::newest(), classes(), "Lines");
    let at = format!("Lines.java:{}", line_of("Lines", "// twice on one line"));
    let run = classhook(&["watch", &rounds.pid, "--at", &at, "--show", "totl"]);
    run.assert_exit(2).assert_stderr("error[H0650]");
    assert_eq!(run.stderr.matches("`totl`").count(), 1, "{}", run.report());
    rounds.end();
}
