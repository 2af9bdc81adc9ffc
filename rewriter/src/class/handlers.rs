//! Rows of the exception table that cover an instruction (JVMS 4.7.3, `exception_table`).

/// Checks whether the range of this row contains `bci`.
pub(crate) fn contains(row: &[u8; 8], bci: u32) -> bool {
    let [s0, s1, e0, e1, ..] = *row;
    let number = |bytes| u32::from(u16::from_be_bytes(bytes));
    number([s0, s1]) <= bci && bci < number([e0, e1])
}

/// Checks whether this row, or another with its handler and type, contains `bci`. Compilers leave gaps in ranges, so
/// one `try` has several rows.
pub(crate) fn contains_jointly(rows: &[[u8; 8]], row: &[u8; 8], bci: u32) -> bool {
    let alike = |other: &&[u8; 8]| other.get(4..) == row.get(4..);
    contains(row, bci) || rows.iter().filter(alike).any(|row| contains(row, bci))
}
