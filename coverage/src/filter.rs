//! Code that the compiler generated, without source, is left out of the counters.
//!
//! [`ALL`] lists the filters in the order in which they are applied, [`MISSING`]
//! those of JaCoCo 0.8.15 that are not here. A filter examines one method and
//! names instructions to leave out, instructions that are copies of one
//! another, and branches that stand for others.

mod annotation_generated;
mod assert;
mod bridge;
mod context;
mod cursor;
mod enum_constructor;
mod enum_methods;
mod exhaustive_switch;
mod finally;
mod nodes;
mod output;
mod private_constructor;
mod record_members;
mod record_pattern;
mod string_switch;
mod string_switch_javac;
mod synchronized;
mod synthetic;
mod synthetic_class;
mod try_with_resources_ecj;
mod try_with_resources_javac;
mod try_with_resources_javac11;

pub(crate) use context::FilterContext;
pub(crate) use nodes::{Node, Nodes};
pub(crate) use output::FilterOutput;

use crate::class::{ClassDescription, MethodDescription};

/// One filter.
#[derive(Clone, Copy)]
pub struct Filter {
    /// Its name, in lower case with dashes.
    pub name: &'static str,
    /// What it leaves out, as a sentence.
    pub doc: &'static str,
    apply: fn(&FilterContext<'_>, &mut FilterOutput),
}

impl std::fmt::Debug for Filter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filter")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A filter of JaCoCo 0.8.15 that is not implemented here.
#[derive(Debug, Clone, Copy)]
pub struct MissingFilter {
    /// Name of the class that implements it in JaCoCo.
    pub name: &'static str,
    /// What it would leave out.
    pub doc: &'static str,
}

/// Applies every filter to one method.
pub(crate) fn apply_all(context: &FilterContext<'_>) -> FilterOutput {
    let mut output = FilterOutput::new(context.code.instructions.len());
    for filter in ALL {
        (filter.apply)(context, &mut output);
    }
    output
}

/// A filter that leaves out something of a method.
#[derive(Debug, Clone, Copy)]
pub struct Finding<'a> {
    /// The method.
    pub method: &'a MethodDescription,
    /// The filter.
    pub filter: &'static Filter,
}

/// Which filters leave out something of which methods of a class.
#[must_use]
pub fn findings(class: &ClassDescription) -> Vec<Finding<'_>> {
    let mut findings = Vec::new();
    for method in &class.methods {
        let Some(code) = &method.code else {
            continue;
        };
        let nodes = &Nodes::new(code);
        let context = FilterContext {
            class,
            method,
            code,
            nodes,
        };
        for filter in ALL {
            let mut output = FilterOutput::new(code.instructions.len());
            (filter.apply)(&context, &mut output);
            if !output.is_empty() {
                findings.push(Finding { method, filter });
            }
        }
    }
    findings
}

macro_rules! filters {
    ($($module:ident $name:literal $doc:literal)*) => {
        /// The filters, in the order in which they are applied.
        pub const ALL: &[Filter] = &[$(Filter { name: $name, doc: $doc, apply: $module::apply }),*];
    };
}

filters! {
    synthetic_class "synthetic-class" "All methods of a class marked ACC_SYNTHETIC."
    enum_methods "enum-methods" "`values()` and `valueOf(String)` of an enum."
    bridge "bridge" "Methods marked ACC_BRIDGE."
    synchronized "synchronized" "The handler that leaves the monitor of a `synchronized` block when it is left by an exception."
    try_with_resources_javac11 "try-with-resources-javac11" "The closing of resources as javac 11 and later compile it."
    try_with_resources_javac "try-with-resources-javac" "The closing of resources as javac 7 to 10 compile it."
    try_with_resources_ecj "try-with-resources-ecj" "The closing of resources as the Eclipse compiler compiles it."
    finally "finally" "The copies of a `finally` block are counted as one."
    private_constructor "private-empty-constructor" "A private constructor without parameters that does nothing."
    assert "assert" "The test whether assertions are enabled, and its initialisation."
    string_switch_javac "string-switch-javac" "The look-up of the key in a `switch` on strings as javac compiles it."
    string_switch "string-switch" "The comparisons in a `switch` on strings of other compilers become the branches of one switch."
    enum_constructor "enum-empty-constructor" "A constructor of an enum without parameters that does nothing."
    record_members "record-members" "`equals`, `hashCode`, `toString` and the accessors of a record that the compiler made."
    exhaustive_switch "exhaustive-switch" "The default branch of an exhaustive `switch`, which throws `MatchException` or `IncompatibleClassChangeError`."
    record_pattern "record-pattern" "The handler that wraps what an accessor throws during the matching of a record pattern."
    annotation_generated "annotation-generated" "Classes and methods with an annotation whose simple name contains `Generated` and that is kept in the class file."
    synthetic "synthetic" "Methods marked ACC_SYNTHETIC, other than the bodies of lambdas, in classes that are not Kotlin's."
}

macro_rules! missing {
    ($($name:literal $doc:literal)*) => {
        /// What JaCoCo 0.8.15 filters and this crate does not: all of it is for Kotlin.
        pub const MISSING: &[MissingFilter] = &[$(MissingFilter { name: $name, doc: $doc }),*];
    };
}

missing! {
    "KotlinGeneratedFilter" "methods without line numbers"
    "KotlinSyntheticAccessorsFilter" "accessors of private members"
    "KotlinSerializableFilter" "members made for `@Serializable`"
    "KotlinEnumFilter" "`getEntries` of an enum"
    "KotlinJvmOverloadsFilter" "overloads made for `@JvmOverloads`"
    "KotlinJvmStaticFilter" "static delegates made for `@JvmStatic`"
    "KotlinSafeCallOperatorFilter" "the null checks of chained `?.`"
    "KotlinLateinitFilter" "the check that a `lateinit` property is initialised"
    "KotlinWhenFilter" "the default branch of an exhaustive `when`"
    "KotlinWhenStringFilter" "the comparisons in a `when` on strings"
    "KotlinUnsafeCastOperatorFilter" "the null check of `as`"
    "KotlinNotNullOperatorFilter" "the null check of `!!`"
    "KotlinInlineClassFilter" "members made for value classes"
    "KotlinExposeBoxedFilter" "members made for `@JvmExposeBoxed`"
    "KotlinDefaultArgumentsFilter" "the tests for default arguments in `…$default`"
    "KotlinInlineFilter" "instructions inlined from elsewhere"
    "KotlinCoroutineFilter" "the state machine of a `suspend` function"
    "KotlinDefaultMethodsFilter" "delegates to default methods of interfaces"
    "KotlinComposeFilter" "code made by the Compose compiler"
}

#[cfg(test)]
mod tests;
