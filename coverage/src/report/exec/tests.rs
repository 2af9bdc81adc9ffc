use proptest::prelude::*;

use super::*;

fn data(id: u64, name: &str, probes: &[bool]) -> ExecutionData {
    ExecutionData {
        id,
        name: name.into(),
        probes: probes.to_vec(),
    }
}

fn written(sessions: &[Session], classes: &[ExecutionData]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes, sessions, classes).unwrap();
    bytes
}

#[test]
fn bytes_match_the_format() {
    let session = Session {
        id: "s\u{0}ü".into(),
        start_ms: 1,
        dump_ms: 2,
        incomplete: None,
        killed: None,
    };
    let mut probes = vec![false; 130];
    probes[0] = true;
    probes[9] = true;
    let bytes = written(&[session], &[data(0x0102, "a/B", &probes)]);
    let mut expected = vec![0x01, 0xC0, 0xC0, 0x10, 0x07];
    expected.extend([
        0x10, 0, 5, b's', 0xC0, 0x80, 0xC3, 0xBC, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2,
    ]);
    expected.extend([
        0x11, 0, 0, 0, 0, 0, 0, 1, 2, 0, 3, b'a', b'/', b'B', 0x82, 0x01, 0x01, 0x02,
    ]);
    expected.extend([0; 15]);
    assert_eq!(bytes, expected);
}

#[test]
fn class_without_a_hit_is_not_written() {
    let bytes = written(&[], &[data(1, "a/B", &[false, false])]);
    assert_eq!(bytes, [0x01, 0xC0, 0xC0, 0x10, 0x07]);
}

#[test]
fn sessions_are_sorted_by_their_dump() {
    let session = |id: &str, dump_ms| Session {
        id: id.into(),
        start_ms: 0,
        dump_ms,
        incomplete: None,
        killed: None,
    };
    let bytes = written(&[session("late", 9), session("early", 3)], &[]);
    assert_eq!(
        read(&bytes).unwrap().sessions,
        [session("early", 3), session("late", 9)]
    );
}

#[test]
fn concatenated_files_are_united() {
    let mut bytes = written(&[], &[data(1, "a/B", &[true, false, false])]);
    bytes.extend(written(
        &[],
        &[
            data(2, "a/C", &[true]),
            data(1, "a/B", &[false, false, true]),
        ],
    ));
    let file = read(&bytes).unwrap();
    assert_eq!(
        file.classes,
        [
            data(1, "a/B", &[true, false, true]),
            data(2, "a/C", &[true])
        ]
    );
}

#[test]
fn contradicting_records_are_refused() {
    let mut bytes = written(&[], &[data(1, "a/B", &[true])]);
    bytes.extend(written(&[], &[data(1, "a/B", &[true, true])]));
    let error = read(&bytes).unwrap_err();
    insta::assert_snapshot!(error, @"class id 0000000000000001 belongs to a/B with 1 probes and to a/B with 2; do not mix runs of different programs");
    let mut union = Union::default();
    union.add(data(1, "a/B", &[true])).unwrap();
    assert!(union.add(data(1, "a/C", &[true])).is_err());
    assert_eq!(union.into_classes(), [data(1, "a/B", &[true])]);
}

#[test]
fn other_files_are_refused() {
    insta::assert_snapshot!(read(b"PK\x03\x04").unwrap_err(), @"expected JaCoCo execution data, which begins with the bytes 01 C0 C0, found [50, 4B, 03, 04]");
    insta::assert_snapshot!(read(&[1, 0xC0, 0xC0, 0x10, 0x06]).unwrap_err(), @"expected execution data of version 1007, found 1006 at byte 3; use a JaCoCo of 0.5 or later");
    insta::assert_snapshot!(read(&[1, 0xC0, 0xC0, 0x10, 0x07, 0x42]).unwrap_err(), @"expected a block of kind 01, 10 or 11 at byte 5, found 42");
    insta::assert_snapshot!(read(&[1, 0xC0, 0xC0, 0x10, 0x07, 0x11, 0]).unwrap_err(), @"the file ends at byte 7 inside the data of a class; it is incomplete");
    insta::assert_snapshot!(read(&[1, 0xC0, 0xC0, 0x10, 0x07, 0x10, 0, 1, 0xFF]).unwrap_err(), @"expected modified UTF-8 (JVMS 4.4.7) at byte 6");
    assert_eq!(read(&[]).unwrap(), ExecFile::default());
}

#[test]
fn enormous_probe_count_allocates_no_memory() {
    let mut bytes = written(&[], &[]);
    bytes.extend([
        0x11, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, b'A', 0xFF, 0xFF, 0xFF, 0xFF, 0x7F,
    ]);
    assert!(matches!(read(&bytes), Err(ReadError::Truncated { .. })));
}

#[test]
fn text_too_long_for_the_format_is_an_error() {
    let mut bytes = Vec::new();
    let error = write(&mut bytes, &[], &[data(1, &"x".repeat(65_536), &[true])]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a text of 65536 bytes where the format allows 65535"
    );
}

proptest! {
    #[test]
    fn round_trip(
        sessions in prop::collection::vec((".{0,8}", any::<i64>(), any::<i64>()), 0..4),
        classes in prop::collection::btree_map(any::<u64>(), (".{0,12}", prop::collection::vec(any::<bool>(), 1..300)), 0..6),
    ) {
        let mut sessions: Vec<_> = sessions.into_iter()
            .map(|(id, start_ms, dump_ms)| Session { id, start_ms, dump_ms, incomplete: None, killed: None }).collect();
        sessions.sort_by_key(|session| session.dump_ms);
        let classes: Vec<_> = classes.into_iter()
            .filter(|(_, (_, probes))| probes.contains(&true))
            .map(|(id, (name, probes))| ExecutionData { id, name, probes }).collect();
        let read = read(&written(&sessions, &classes)).unwrap();
        prop_assert_eq!(read, ExecFile { sessions, classes });
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut file = vec![1, 0xC0, 0xC0, 0x10, 0x07];
        file.extend(&bytes);
        let _ = read(&file);
        let _ = read(&bytes);
    }
}
