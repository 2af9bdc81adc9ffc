//! Which handlers lead away from a place, and from a jump (JVMS 4.7.3, `exception_table`).

/// Whether the range of this row of an exception table contains `bci`.
pub(crate) fn contains(row: &[u8; 8], bci: u32) -> bool {
    let [s0, s1, e0, e1, ..] = *row;
    let number = |bytes| u32::from(u16::from_be_bytes(bytes));
    number([s0, s1]) <= bci && bci < number([e0, e1])
}

/// Whether this row, or another with its handler and type, contains `bci`: what
/// compilers leave out of a range makes several rows of one `try`.
pub(crate) fn contains_jointly(rows: &[[u8; 8]], row: &[u8; 8], bci: u32) -> bool {
    let alike = |other: &&[u8; 8]| other.get(4..) == row.get(4..);
    contains(row, bci) || rows.iter().filter(alike).any(|row| contains(row, bci))
}
