//! Classes with another number of probes in JaCoCo, or in another version of the plugin.

#[path = "support/command.rs"]
mod support;

use std::ffi::OsString;
use std::fs;

use probes::Meta;
use support::{Hits, bank, run, snapshot, snapshot_of};

/// `package old; class Called { static void run() { … } static void end() {} }` of Java 5; `run` has a subroutine that calls
/// itself.
fn class_with_a_subroutine() -> Vec<u8> {
    let mut class = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 49, 0, 9];
    for (number, text) in [(2_u8, "old/Called"), (4, "java/lang/Object")] {
        class.extend([7, 0, number, 1, 0, text.len() as u8]);
        class.extend(text.as_bytes());
    }
    for text in ["run", "()V", "Code", "end"] {
        class.extend([1, 0, text.len() as u8]);
        class.extend(text.as_bytes());
    }
    class.extend([0, 0x20, 0, 1, 0, 3, 0, 0, 0, 0, 0, 2]);
    let codes: [(u8, &[u8]); 2] = [
        // jsr 4, return; 4: astore_0, jsr 4, ret
        (5, &[0xa8, 0, 4, 0xb1, 0x4b, 0xa8, 0xff, 0xff, 0xa9, 0]),
        (8, &[0xb1]),
    ];
    for (name, code) in codes {
        class.extend([
            0,
            8,
            0,
            name,
            0,
            6,
            0,
            1,
            0,
            7,
            0,
            0,
            0,
            12 + code.len() as u8,
        ]);
        class.extend([0, 1, 0, 1, 0, 0, 0, code.len() as u8]);
        class.extend(code);
        class.extend([0, 0, 0, 0]);
    }
    class.extend([0, 0]);
    class
}

#[test]
fn class_with_other_probes_in_jacoco_is_left_out_of_the_exec_file() {
    let bank = bank();
    let (account, called) = (bank.class("bank/Account"), class_with_a_subroutine());
    let classes: &[(&[u8], Hits)] = &[(&account, Hits::All), (&called, Hits::All)];
    let file = snapshot(&bank.path("out"), Meta::default(), true, classes);
    let exec = bank.path("jacoco.exec");
    let ran = run([
        OsString::from("report"),
        file.into(),
        "--exec".into(),
        exec.clone().into(),
    ]);
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    let said = "warning[H0623]: the .exec file lacks 1 class\n  found    old.Called, for example";
    assert!(ran.error.contains(said), "{}", ran.error);
    let exec = fs::read(exec).unwrap();
    let has = |name: &str| {
        exec.windows(name.len())
            .any(|found| found == name.as_bytes())
    };
    assert!(has("bank/Account") && !has("old/Called"));
}

#[test]
fn snapshot_with_a_mismatched_class_is_partial() {
    let bank = bank();
    let class = bank.class("bank/Account");
    let out = bank.path("out");
    for count in [2, 3] {
        let classes: &[(&str, &[u8], usize, Hits)] = &[("coverage", &class, count, Hits::All)];
        snapshot_of(&out, Meta::default(), true, classes);
    }
    let ran = run([
        OsString::from("merge"),
        out.into(),
        "--to".into(),
        bank.path("all.hook").into(),
    ]);
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    let said = "warning[H0616]: bank/Account has two recordings with different probes";
    assert!(ran.error.contains(said), "{}", ran.error);
}
