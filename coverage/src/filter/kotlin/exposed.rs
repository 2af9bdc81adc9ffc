//! The methods with boxed value classes made for `@JvmExposeBoxed`.

use super::super::context::FilterContext;
use super::super::output::FilterOutput;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    // Visible ones are on the methods of annotated classes, which JaCoCo keeps.
    let mut annotations = context.method.invisible_annotations.iter();
    if annotations.any(|annotation| *annotation == "Lkotlin/jvm/JvmExposeBoxed;") {
        context.ignore_all(output);
    }
}
