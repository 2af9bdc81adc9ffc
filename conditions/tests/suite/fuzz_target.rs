//! Any text as a condition, for any call: the body of the fuzz target.

use conditions::{Condition, Program, Show, Verdict, Watch};

use crate::naive;
use crate::simulated_call::{Owned, Seen, SimulatedCall};

/// Reads a condition, a zero byte, a list, a zero byte, and the values of a call from the bytes.
pub fn conditions(bytes: &[u8]) {
    let mut parts = bytes.splitn(3, |byte| *byte == 0);
    let mut text = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let (when, show) = (text(), text());
    let values = parts.next().unwrap_or_default();
    if let Ok(list) = Show::parse_list(&show) {
        let again: Vec<String> = list.iter().map(Show::to_string).collect();
        assert_eq!(Show::parse_list(&again.join(", ")).as_ref(), Ok(&list));
    }
    let condition = match Condition::parse(&when) {
        Ok(condition) => condition,
        Err(mistake) => {
            let place = mistake.to_string();
            assert!(place.lines().last().is_some_and(|line| line.contains('^')));
            return;
        }
    };
    let printed = condition.to_string();
    if printed.len() <= conditions::limits::MAX_LENGTH {
        assert_eq!(
            Condition::parse(&printed),
            Ok(condition.clone()),
            "{printed}"
        );
    }
    let watch = Watch {
        when: Some(condition.clone()),
        ..Watch::default()
    };
    let watch = watch.clone().showing(&show).unwrap_or(watch);
    let program = Program::of(&watch);
    let call = simulated_call(&program, values);
    let verdict = program.evaluate(&Seen(&call, &program));
    assert_eq!(
        verdict,
        naive::verdict(&condition, &call),
        "{condition} of {call:?}"
    );
    let _: Verdict = verdict;
}

/// Creates a call with these values.
fn simulated_call(program: &Program, values: &[u8]) -> SimulatedCall {
    let mut bytes = values.iter().copied();
    let mut byte = move || bytes.next().unwrap_or(0);
    let call = SimulatedCall {
        duration: u64::from(byte()) * 1_000_000,
        threw: byte() & 1 == 1,
        depth: byte().into(),
        arguments: byte().into(),
        thread: Some(byte())
            .filter(|it| it & 1 == 1)
            .map(|it| format!("t{it}")),
        values: Default::default(),
    };
    program.slots().iter().fold(call, |call, slot| {
        let value = match byte() % 7 {
            0 => Owned::Missing,
            1 => Owned::Null,
            2 => Owned::Truth(byte() & 1 == 1),
            3 => Owned::Integer(i64::from(byte().cast_signed())),
            4 => Owned::Float(f64::from(byte().cast_signed()) / 4.0),
            5 => Owned::Object,
            _ => {
                let text: String = (0..byte() % 5).map(|_| char::from(byte())).collect();
                let length = text.encode_utf16().count() as u32;
                Owned::Text(text, length + u32::from(byte() & 1))
            }
        };
        call.with(slot.path.clone(), value)
    })
}

/// Runs the fuzz target on texts that are nearly valid.
#[test]
fn smoke() {
    const SEEDS: [&str; 6] = [
        "duration > 100ms && arg[0] == \"x\" || threw\0arg, returned, this.size, stack(10)\0",
        "!(this.a.b[3].length >= -1.5e3) && thrown.matches(\"java.*\")\0thrown\0",
        "returned != null && (args.length == 2 || depth < 'c')\0arg[1].a[2]\0",
        "thread.contains(\"a\\u0041\\\"\") && !arg[1] && !!threw\0arg[0].class\0",
        "this.length.startsWith(thrown.detailMessage)\0stack(100)\0",
        "1 < 2.5 && 3us == duration\0args\0",
    ];
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as usize % below
    };
    for text in SEEDS {
        for _ in 0..2_000 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..random(3) {
                let at = random(bytes.len());
                match random(3) {
                    0 => drop(bytes.remove(at)),
                    1 => bytes[at] = random(256) as u8,
                    _ => {
                        let from = random(bytes.len());
                        let part = bytes[from..(from + random(9)).min(bytes.len())].to_vec();
                        bytes.splice(at..at, part);
                    }
                }
            }
            bytes.extend((0..24).map(|_| random(256) as u8));
            conditions(&bytes);
        }
    }
}
