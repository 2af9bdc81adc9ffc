//! `values()` and `valueOf(String)`, which every enum has (JLS 8.9.3).

use super::{Effects, Subject};

pub(super) fn apply(subject: &Subject<'_>, effects: &mut Effects) {
    if !subject.is_super("java/lang/Enum") {
        return;
    }
    let name = &subject.class.name;
    if subject.is("values", &format!("()[L{name};"))
        || subject.is("valueOf", &format!("(Ljava/lang/String;)L{name};"))
    {
        subject.ignore_all(effects);
    }
}
