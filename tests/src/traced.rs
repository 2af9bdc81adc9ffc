//! Java programs generated from a seed, which keep their own log of calls, callers and ends.
//!
//! The traced methods hold no code for the log, so their shape is that of any code. A wrapper calls each and writes its
//! entry and end; for constructors, code behind `super()` does. Every call has a unique number among its arguments, so
//! each recorded call can be found in the log.

use std::fmt::Write as _;

/// A pseudo-random sequence that follows from a seed.
#[derive(Debug, Clone)]
struct Dice(u64);

impl Dice {
    /// Returns a number below `sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Number of methods: `m0` to `m11`.
const METHODS: u64 = 12;
/// Number of classes: `C0` to `C3`, each a subclass of the one before.
const CLASSES: u64 = 4;

/// Generates the source of class `Traced`. Its `main` takes the file for the log, and the numbers of threads, of
/// virtual threads and of rounds. With `0` rounds it runs until standard input ends.
#[must_use]
pub fn source(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut text = String::from("final class Traced extends TracedBase {\n");
    for method in 0..METHODS {
        self::method(&mut dice, method, &mut text);
    }
    for class in 0..CLASSES {
        self::class(&mut dice, class, &mut text);
    }
    let _ = write!(
        text,
        "    long start(int which, int depth) {{\n        switch (which % {METHODS}) {{\n"
    );
    for method in 0..METHODS {
        let _ = writeln!(
            text,
            "            case {method}: return call{method}(depth);"
        );
    }
    text.push_str("            default: return 0;\n        }\n    }\n\n");
    text.push_str("    public static void main(String[] args) throws Exception {\n        run(new Traced(), args);\n    }\n}\n");
    text
}

/// Generates `m<n>` and the wrapper `call<n>` around it.
fn method(dice: &mut Dice, number: u64, text: &mut String) {
    let synchronized = if dice.roll(4) == 0 {
        "synchronized "
    } else {
        ""
    };
    let _ = writeln!(
        text,
        "    {synchronized}long m{number}(long call, int depth) {{\n        long sum = call % 7;"
    );
    for _ in 0..=dice.roll(3) {
        statement(dice, 2, text);
    }
    let _ = write!(
        text,
        "        return sum;\n    }}\n\n    long call{number}(int depth) {{
        if (spent(depth)) return 1;
        long call = enter(\"m{number}\", depth);
        try {{
            return leave(call, \"m{number}\", m{number}(call, depth));
        }} catch (RuntimeException e) {{
            throw fail(call, \"m{number}\", e);
        }}
    }}\n\n"
    );
}

/// Generates one statement of a method, with at most `nesting` more levels in it.
fn statement(dice: &mut Dice, nesting: u64, text: &mut String) {
    let callee = dice.roll(METHODS);
    let other = dice.roll(METHODS);
    let class = dice.roll(CLASSES);
    let error = dice.roll(3);
    let modulus = 2 + dice.roll(5);
    let nested = |dice: &mut Dice, text: &mut String| {
        if nesting > 0 {
            statement(dice, nesting - 1, text);
        }
    };
    match dice.roll(9) {
        0 | 1 => {
            let _ = writeln!(text, "        sum += call{callee}(depth - 1);");
        }
        2 => {
            let _ = writeln!(
                text,
                "        if (call % {modulus} == 1) throw new Error{error}();"
            );
        }
        3 => {
            text.push_str("        try {\n");
            nested(dice, text);
            let _ = writeln!(
                text,
                "        sum += call{callee}(depth - 1);\n        }} catch (Error{error} e) {{\n        sum -= call{other}(depth - 1);\n        }}"
            );
        }
        4 => {
            text.push_str("        try {\n");
            nested(dice, text);
            let _ = writeln!(
                text,
                "        sum += call{callee}(depth - 1);\n        }} finally {{\n        sum += call{other}(depth - 2);\n        }}"
            );
        }
        5 => {
            let _ = writeln!(
                text,
                "        try {{ if (call % {modulus} == 0) throw new Error{error}(); sum += call{callee}(depth - 1); }} finally {{ if (call % 3 == 0) return sum + call{other}(depth - 2); }}"
            );
        }
        6 => {
            let _ = writeln!(
                text,
                "        for (int i{nesting} = 0; i{nesting} < {modulus}; i{nesting}++) {{"
            );
            nested(dice, text);
            let _ = writeln!(
                text,
                "        if (i{nesting} == 2) pause();\n        sum += call{callee}(depth - 2);\n        }}"
            );
        }
        7 => {
            let _ = writeln!(text, "        sum += make{class}(depth - 1);");
        }
        _ => {
            let _ = writeln!(
                text,
                "        if (sum % {modulus} == 0) return call{callee}(depth - 1);"
            );
            nested(dice, text);
        }
    }
}

/// Generates `C<n>`, whose constructor calls methods before and behind `super()`, and `make<n>` around it.
fn class(dice: &mut Dice, number: u64, text: &mut String) {
    let (before, behind) = (dice.roll(METHODS), dice.roll(METHODS));
    let modulus = 3 + dice.roll(4);
    let (parent, up) = match number.checked_sub(1) {
        None => ("Object".to_owned(), "super();".to_owned()),
        Some(parent) => (
            format!("C{parent}"),
            format!(
                "super(traced, traced.newCall(\"C{parent}\", depth - 1), depth - 1 + 0 * (int) traced.call{before}(depth - 2));"
            ),
        ),
    };
    let left = match number.checked_sub(1) {
        None => String::new(),
        Some(parent) => format!("superLeft(\"C{parent}\"); "),
    };
    let _ = write!(
        text,
        "    static class C{number} extends {parent} {{
        {{ {left}entered(\"C{number}\"); }}
        C{number}(Traced traced, long call, int depth) {{
            {up}
            traced.call{behind}(depth - 1);
            if (call % {modulus} == 0) throw new Error0();
        }}
    }}

    long make{number}(int depth) {{
        if (spent(depth)) return 1;
        int[] open = open();
        long call = newCall(\"C{number}\", depth);
        try {{
            new C{number}(this, call, depth);
            superLeft(\"C{number}\");
            return call;
        }} catch (RuntimeException e) {{
            throw constructorFailed(open, e);
        }}
    }}\n\n"
    );
}
