use super::*;

const MACS: Macs = Macs(Seed([5; SEED]));
const SEED_OF_KEYS: Seed = Seed([9; SEED]);

fn key(number: u32) -> ClassKey {
    ClassKey::of(&SEED_OF_KEYS, &[&number.to_le_bytes()])
}

fn entry(number: u32, day: u32, plan: &[u8]) -> Entry<'_> {
    Entry {
        key: key(number),
        day,
        source: Source::Memory(plan),
    }
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    io::Write::write_all(&mut file, bytes).unwrap();
    file
}

fn bytes_of(entries: Vec<Entry<'_>>, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes, &SEED_OF_KEYS, MACS, entries, most).unwrap();
    bytes
}

fn open(bytes: &[u8]) -> Option<PlanFile> {
    PlanFile::open(file_of(bytes), bytes.len() as u64, MACS)
}

fn plan(file: &PlanFile, number: u32) -> Option<(u32, Vec<u8>)> {
    let record = file.find(&key(number)).ok()??;
    Some((record.day, file.plan(&record).ok()?))
}

fn three() -> Vec<u8> {
    let entries = [(7, 3, &b"seven"[..]), (1, 9, b""), (4, 5, b"four")];
    let entries = entries.map(|(number, day, plan)| entry(number, day, plan));
    bytes_of(entries.into(), 1 << 20)
}

#[test]
fn plans_are_found_by_their_classes() {
    let file = open(&three()).unwrap();
    assert_eq!(file.seed(), SEED_OF_KEYS);
    assert_eq!(plan(&file, 7), Some((3, b"seven".to_vec())));
    assert_eq!(plan(&file, 1), Some((9, Vec::new())));
    assert_eq!(plan(&file, 4), Some((5, b"four".to_vec())));
    assert_eq!(file.find(&key(2)), Ok(None));
    let none = open(&bytes_of(Vec::new(), 1 << 20)).unwrap();
    assert_eq!(none.find(&key(7)), Ok(None));
}

#[test]
fn each_of_many_plans_is_found_with_few_blocks_and_the_plan() {
    let texts: Vec<String> = (0..20_000).map(|number| format!("plan {number}")).collect();
    let entries = (0..).zip(&texts);
    let entries = entries.map(|(number, text)| entry(number, 1, text.as_bytes()));
    let file = open(&bytes_of(entries.collect(), 1 << 30)).unwrap();
    let mut most = 0;
    for (number, text) in (0..).zip(&texts) {
        let before = file.bytes_read();
        assert_eq!(plan(&file, number), Some((1, text.clone().into_bytes())));
        most = most.max(file.bytes_read() - before);
    }
    let blocks = u64::from(OVERFLOW + 1);
    assert!(most < blocks * BLOCK as u64 + 100, "{most}");
    assert_eq!(file.records().count(), texts.len());
}

#[test]
fn plans_of_other_files_are_copied_and_the_first_of_a_class_counts() {
    let older = open(&three()).unwrap();
    let copied = older.records().map(|record| Entry {
        key: record.key,
        day: record.day,
        source: Source::File(&older, record),
    });
    let entries = [entry(4, 2, b"new four"), entry(8, 2, b"eight")];
    let file = open(&bytes_of(
        entries.into_iter().chain(copied).collect(),
        1 << 20,
    ))
    .unwrap();
    assert_eq!(plan(&file, 7), Some((3, b"seven".to_vec())));
    assert_eq!(plan(&file, 4), Some((5, b"new four".to_vec())));
    assert_eq!(plan(&file, 8), Some((2, b"eight".to_vec())));
    assert_eq!(plan(&file, 1), Some((9, Vec::new())));
}

/// Changes each byte and cuts the file at each length. Intact plans are found unchanged, and all
/// damage is detected.
#[test]
fn damage_is_detected_on_use() {
    let whole = three();
    let written = open(&whole).unwrap();
    let plans = [7, 1, 4].map(|number| plan(&written, number).unwrap());
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x80;
        let Some(file) = open(&changed) else {
            assert!(at < HEAD, "{at}");
            continue;
        };
        assert!(at >= HEAD, "{at}");
        let mut damaged = 0;
        for (number, expected) in [7, 1, 4].into_iter().zip(&plans) {
            match plan(&file, number) {
                Some(found) => assert_eq!(found, *expected, "{at}"),
                None => damaged += 1,
            }
        }
        let expected = if at < HEAD + BLOCK { 3 } else { 1 };
        assert_eq!(damaged, expected, "{at}");
    }
    for end in 0..whole.len() {
        assert!(open(&whole[..end]).is_none(), "{end}");
    }
    let other = PlanFile::open(file_of(&whole), whole.len() as u64, Macs(Seed([6; SEED])));
    assert!(other.is_none(), "the MACs of another user");
}

/// The file becomes shorter after it was opened.
#[test]
fn file_that_is_cut_while_it_is_open_is_damaged() {
    let whole = three();
    let file = file_of(&whole);
    let opened = PlanFile::open(file.try_clone().unwrap(), whole.len() as u64, MACS).unwrap();
    file.set_len((HEAD + BLOCK) as u64).unwrap();
    let record = opened.find(&key(7)).unwrap().unwrap();
    let start = (HEAD + BLOCK) as u64;
    assert!(opened.plan(&record).unwrap_err().offset >= start);
    assert_eq!(plan(&opened, 1), Some((9, Vec::new())));
    file.set_len(HEAD as u64).unwrap();
    assert_eq!(
        opened.find(&key(7)),
        Err(Damage {
            offset: HEAD as u64
        })
    );
}

#[test]
fn least_recently_used_plans_are_removed() {
    let entries = || (0..10).map(|number| entry(number, 1 + number % 5, b"12345678"));
    let left = |most| {
        let file = open(&bytes_of(entries().collect(), most)).unwrap();
        let there = (0..10).filter(|number| plan(&file, *number).is_some());
        there.collect::<Vec<_>>()
    };
    let full = HEAD + BLOCK + 6 * (8 + MAC);
    assert_eq!(left(full as u64), [2, 3, 4, 7, 8, 9]);
    assert!(left(0).is_empty());
    assert_eq!(left(1 << 20).len(), 10);
}

/// More plans share a home than a block holds.
#[test]
fn plans_beyond_a_full_home_are_in_the_next_blocks() {
    let near = (0_u32..).map(|number| (number, key(number)));
    let near: Vec<_> = near
        .filter(|(_, key)| key.home(100) == 99)
        .take(80)
        .collect();
    let mut entries: Vec<_> = near
        .iter()
        .map(|(number, _)| entry(*number, 1, b"plan"))
        .collect();
    let others = (0..1_720).map(|number| entry(1_000_000 + number, 1, b""));
    entries.extend(others);
    let file = open(&bytes_of(entries, 1 << 30)).unwrap();
    assert_eq!(file.blocks, 100);
    for (number, key) in &near {
        assert_eq!(plan(&file, *number), Some((1, b"plan".to_vec())), "{key:?}");
    }
}
