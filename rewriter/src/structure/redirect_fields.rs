//! Redirects field accesses to another class.

use crate::bytes::write_at;
use crate::class::ClassFile;
use crate::index::PoolIndex;
use crate::pool::PoolWriter;
use jvms::constant_tag;

/// Returns the class file with accesses to fields of the class `from` redirected to fields of `to`; both are internal
/// names. `None` if the constant pool is full.
#[must_use]
pub fn redirect_fields(class: &ClassFile<'_>, from: &str, to: &str) -> Option<Vec<u8>> {
    let pool = class.pool();
    let mut added = PoolWriter::default();
    added.begin(pool.count());
    let mut out = class.bytes().to_vec();
    for index in (1..pool.count()).map(PoolIndex) {
        if pool.tag(index) != Some(constant_tag::FIELD_REF) {
            continue;
        }
        let owner = pool.member_ref(index).map(|member| member.owner);
        if owner.is_some_and(|owner| owner == from) {
            let to = added.class(to.as_bytes())?;
            let at = pool.offset(index)?.checked_add(1)?;
            write_at(&mut out, at, &to.to_be_bytes());
        }
    }
    if added.count() != pool.count() {
        let end = pool.end();
        out.splice(end..end, added.bytes().iter().copied());
        write_at(&mut out, 8, &added.count().to_be_bytes());
    }
    Some(out)
}
