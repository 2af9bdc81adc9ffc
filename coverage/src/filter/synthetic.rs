//! Synthetic methods, except the bodies of lambdas.

use jvms::access_flags::ACC_SYNTHETIC;

use super::context::FilterContext;
use super::output::FilterOutput;

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let method = context.method;
    if method.access_flags & ACC_SYNTHETIC == 0 {
        return;
    }
    let lambda = method.name.starts_with("lambda$")
        || (is_scala(context) && method.name.starts_with("$anonfun$"));
    if !lambda {
        context.ignore_all(output);
    }
}

fn is_scala(context: &FilterContext<'_>) -> bool {
    let mut attributes = context.class.attributes.iter();
    attributes.any(|name| ["ScalaSig", "Scala"].contains(name))
}
