//! Tests the plugin with the rewriter's real views and rules.

use classhook_testkit::Harness;
use plugin_coverage::Coverage;

const SHAPES: &[u8] = include_bytes!("../../../host/tests/fixtures/Shapes.class");

#[test]
fn probes_are_at_jacocos_places() {
    let transformed = Harness::<Coverage>::default().transform(SHAPES);
    transformed.assert_plan_file("tests/Shapes.plan");
    assert!(transformed.splice().len() > SHAPES.len());
}

#[test]
fn probes_are_at_line_starts_on_request() {
    let transformed = Harness::<Coverage>::new("lines = true").transform(SHAPES);
    transformed.assert_plan_file("tests/Shapes.lines.plan");
    assert!(transformed.splice().len() > SHAPES.len());
}

#[test]
fn unknown_settings_are_refused_by_name() {
    let error = Harness::<Coverage>::try_config("granularity = 'line'").unwrap_err();
    assert!(
        error.to_string().contains("unknown field `granularity`"),
        "{error}"
    );
}

/// A class of version 49 with one method: `jsr` to a subroutine, `return`.
fn with_subroutine() -> Vec<u8> {
    let mut class = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 49, 0, 8];
    let utf8 = |class: &mut Vec<u8>, text: &str| {
        class.extend([1, 0, text.len() as u8]);
        class.extend(text.as_bytes());
    };
    utf8(&mut class, "J");
    class.extend([7, 0, 1]);
    utf8(&mut class, "java/lang/Object");
    class.extend([7, 0, 3]);
    for text in ["m", "()V", "Code"] {
        utf8(&mut class, text);
    }
    class.extend([0, 0x21, 0, 2, 0, 4, 0, 0, 0, 0]); // flags, names, no interfaces, no fields
    class.extend([0, 1, 0, 9, 0, 5, 0, 6, 0, 1]); // one method, one attribute
    let code = [0xa8, 0, 4, 0xb1, 0x4b, 0xa9, 0]; // jsr 4; return; astore_0; ret 0
    class.extend([
        0,
        7,
        0,
        0,
        0,
        12 + code.len() as u8,
        0,
        1,
        0,
        1,
        0,
        0,
        0,
        code.len() as u8,
    ]);
    class.extend(code);
    class.extend([0, 0, 0, 0, 0, 0]); // no handlers, no attributes; of the class neither
    class
}

#[test]
fn a_method_with_a_subroutine_is_left_out_with_a_note() {
    let transformed = Harness::<Coverage>::default().transform(&with_subroutine());
    transformed.assert_plan(
        "m()V entry: note not measured: expected a method without subroutines, \
         found opcode 168 (jsr, jsr_w or ret) at bci 0\n",
    );
}
