//! Generated heap dumps, whole and damaged.

use std::fs;

use crate::retainers::table;

/// The bytes of a heap dump.
#[derive(Default)]
struct Dump {
    bytes: Vec<u8>,
    heap: Vec<u8>,
}

const OBJECT: u64 = 0x10;
const REFERENCE: u64 = 0x11;
const HOLDER: u64 = 0x12;
const WEAK: u64 = 0x13;
const ARRAY: u64 = 0x14;

impl Dump {
    fn new() -> Self {
        let mut dump = Self::default();
        dump.bytes.extend(b"JAVA PROFILE 1.0.2\0");
        dump.bytes.extend(8_u32.to_be_bytes());
        dump.bytes.extend([0; 8]);
        for (id, name) in [
            (1, "java/lang/Object"),
            (2, "java/lang/ref/Reference"),
            (3, "a/Holder"),
            (4, "a/Weak"),
            (5, "[La/Holder;"),
            (6, "first"),
            (7, "second"),
            (8, "referent"),
            (9, "KEPT"),
        ] {
            let text = [&u64::to_be_bytes(id)[..], name.as_bytes()].concat();
            dump.record(0x01, &text);
        }
        for (class, name) in [
            (OBJECT, 1_u64),
            (REFERENCE, 2),
            (HOLDER, 3),
            (WEAK, 4),
            (ARRAY, 5),
        ] {
            let numbers = [
                &[0; 4][..],
                &class.to_be_bytes(),
                &[0; 4],
                &name.to_be_bytes(),
            ];
            dump.record(0x02, &numbers.concat());
        }
        dump
    }

    fn record(&mut self, tag: u8, payload: &[u8]) {
        self.bytes.push(tag);
        self.bytes.extend([0; 4]);
        self.bytes.extend((payload.len() as u32).to_be_bytes());
        self.bytes.extend(payload);
    }

    fn put(&mut self, tag: u8, numbers: &[&[u8]]) {
        self.heap.push(tag);
        numbers.iter().for_each(|bytes| self.heap.extend(*bytes));
    }

    fn class(&mut self, id: u64, above: u64, statics: &[(u64, u64)], fields: &[u64]) {
        self.put(
            0x20,
            &[
                &id.to_be_bytes(),
                &[0; 4],
                &above.to_be_bytes(),
                &[0; 40],
                &[0; 4],
                &[0; 2],
            ],
        );
        self.heap.extend((statics.len() as u16).to_be_bytes());
        for (name, value) in statics {
            self.heap.extend(name.to_be_bytes());
            self.heap.push(2);
            self.heap.extend(value.to_be_bytes());
        }
        self.heap.extend((fields.len() as u16).to_be_bytes());
        for name in fields {
            self.heap.extend(name.to_be_bytes());
            self.heap.push(2);
        }
    }

    fn instance(&mut self, id: u64, class: u64, fields: &[u64]) {
        let bytes: Vec<u8> = fields
            .iter()
            .flat_map(|field| field.to_be_bytes())
            .collect();
        let length = (bytes.len() as u32).to_be_bytes();
        self.put(
            0x21,
            &[
                &id.to_be_bytes(),
                &[0; 4],
                &class.to_be_bytes(),
                &length,
                &bytes,
            ],
        );
    }

    /// Holders and their byte arrays. Threads hold 100 and 101; both hold 103, and 100 alone holds 102.
    /// The class holds 104, through it an array of holders and the bytes 107. 108 is held weakly, and nothing holds
    /// 109.
    fn whole() -> Vec<u8> {
        let mut dump = Self::new();
        dump.class(OBJECT, 0, &[], &[]);
        dump.class(REFERENCE, OBJECT, &[], &[8]);
        dump.class(HOLDER, OBJECT, &[(9, 104)], &[6, 7]);
        dump.class(WEAK, REFERENCE, &[], &[]);
        dump.class(ARRAY, OBJECT, &[], &[]);
        for class in [OBJECT, REFERENCE, HOLDER, WEAK, ARRAY] {
            dump.put(0x05, &[&class.to_be_bytes()]);
        }
        for held in [100_u64, 101] {
            dump.put(0x03, &[&held.to_be_bytes(), &[0; 8]]);
        }
        dump.instance(100, HOLDER, &[102, 103]);
        dump.instance(101, HOLDER, &[103, 0]);
        for (id, length) in [
            (102_u64, 1_000_u32),
            (103, 500),
            (107, 100_000),
            (108, 9),
            (109, 9),
        ] {
            let bytes = vec![0; length as usize];
            dump.put(
                0x23,
                &[
                    &id.to_be_bytes(),
                    &[0; 4],
                    &length.to_be_bytes(),
                    &[8],
                    &bytes,
                ],
            );
        }
        dump.instance(104, HOLDER, &[105, 110]);
        let elements: Vec<u8> = [106_u64, 0]
            .iter()
            .flat_map(|id| id.to_be_bytes())
            .collect();
        dump.put(
            0x22,
            &[
                &105_u64.to_be_bytes(),
                &[0; 4],
                &2_u32.to_be_bytes(),
                &ARRAY.to_be_bytes(),
                &elements,
            ],
        );
        dump.instance(106, HOLDER, &[107, 0]);
        dump.instance(110, WEAK, &[108]);
        let heap = std::mem::take(&mut dump.heap);
        dump.record(0x1C, &heap);
        dump.record(0x2C, &[]);
        dump.bytes
    }
}

#[test]
fn objects_retain_the_objects_that_only_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.hprof");
    fs::write(&file, Dump::whole()).unwrap();
    let text = table(&file, 8).unwrap();
    assert!(
        text.lines().next().unwrap().ends_with("; 2 more cannot"),
        "{text}"
    );
    let rows: Vec<String> = text
        .lines()
        .skip(3)
        .map(|line| {
            line.trim_start()
                .split_once("%  ")
                .unwrap()
                .1
                .trim_start()
                .to_owned()
        })
        .collect();
    // Sizes: class 64, holder 24, array of two 24, byte array 16 and its elements.
    assert_eq!(
        rows,
        [
            "100,168            6  class a.Holder",
            "100,104            5    static KEPT: a.Holder",
            "100,064            3      field first: a.Holder[]",
            "100,040            2        element 0: a.Holder",
            "100,016            1          field first: byte[]",
            "1,040            2  a.Holder, a local variable",
            "1,016            1    field first: byte[]",
            "520            1  byte[], held in several ways",
        ],
        "what two hold is of neither: {text}"
    );
}

#[test]
fn damaged_dump_is_an_error_or_reported_as_incomplete() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.hprof");
    let mut whole = Dump::whole();
    // Most of the long array is left out, so that each offset can be tried.
    let short = whole.len() - 101_000;
    for length in (0..short).step_by(7) {
        fs::write(&file, &whole[..length]).unwrap();
        let said = table(&file, 3);
        assert!(
            said.map_or(true, |text| text.contains("no end")),
            "{length}"
        );
    }
    for at in (19..short).step_by(11) {
        let before = std::mem::replace(&mut whole[at], 0xFF);
        fs::write(&file, &whole[..short.max(at + 1)]).unwrap();
        let _ = table(&file, 3);
        whole[at] = before;
    }
}
