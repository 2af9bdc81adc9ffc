//! The methods with boxed value classes generated for `@JvmExposeBoxed`.

use super::super::context::FilterContext;
use super::super::output::FilterOutput;

pub(crate) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    // Methods of annotated classes have a visible annotation; JaCoCo keeps them.
    let mut annotations = context.method.invisible_annotations.iter();
    if annotations.any(|annotation| *annotation == "Lkotlin/jvm/JvmExposeBoxed;") {
        context.ignore_all(output);
    }
}
