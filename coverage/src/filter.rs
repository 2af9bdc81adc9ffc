//! Leaves out code that compilers generate without source.
//!
//! [`ALL`] lists the filters of JaCoCo 0.8.15, in the order of their application. [`OF_SOURCE`] lists those that
//! [`Counting::Source`] adds. A filter examines one method. It names instructions to leave out, instructions that are
//! copies of one another, and branches that replace others.

mod annotation_generated;
mod aspectj;
mod assert;
mod bridge;
mod context;
mod cursor;
mod enum_constructor;
mod enum_methods;
mod exhaustive_switch;
mod finally;
mod kotlin;
mod nodes;
mod output;
mod private_constructor;
mod record_members;
mod record_pattern;
mod record_pattern_code;
mod record_pattern_ecj;
mod record_pattern_tests;
mod scala;
mod string_switch;
mod string_switch_javac;
mod synchronized;
mod synthetic;
mod synthetic_class;
mod try_with_resources_ecj;
mod try_with_resources_javac;
mod try_with_resources_javac11;

use aspectj::holds_source;
pub(crate) use aspectj::{advice_of, has_advice};
pub(crate) use context::FilterContext;
pub(crate) use nodes::{Node, Nodes};
pub(crate) use output::{FilterOutput, Replacement};

use crate::class::{ClassDescription, MethodDescription};

/// One filter.
#[derive(Clone, Copy)]
pub struct Filter {
    /// Its name, in lower case with dashes.
    pub name: &'static str,
    /// The code that it leaves out, as a sentence.
    pub doc: &'static str,
    classes: Classes,
    apply: fn(&FilterContext<'_>, &mut FilterOutput),
}

/// The code that counters count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Counting {
    /// The code that JaCoCo 0.8.15 counts.
    #[default]
    Jacoco,
    /// Only source code: leaves out more of the generated code.
    Source,
}

/// The compilers whose classes a filter applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Classes {
    Any,
    Kotlin,
    NotKotlin,
}

impl Filter {
    fn is_for(&self, kotlin: bool) -> bool {
        match self.classes {
            Classes::Any => true,
            Classes::Kotlin => kotlin,
            Classes::NotKotlin => !kotlin,
        }
    }
}

impl std::fmt::Debug for Filter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filter")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Name of the filter for methods that compilers mark as synthetic.
const SYNTHETIC: &str = "synthetic";

/// Applies every filter to one method.
pub(crate) fn apply_all(counting: Counting, context: &FilterContext<'_>) -> FilterOutput {
    let mut output = FilterOutput::new(context.code.instructions.len());
    let kotlin = context.class.is_kotlin();
    let more = match counting {
        Counting::Jacoco => &[],
        Counting::Source => OF_SOURCE,
    };
    let is_kept = counting == Counting::Source && holds_source(context.method);
    let filters = ALL.iter().chain(more);
    let filters = filters.filter(|filter| filter.is_for(kotlin));
    for filter in filters.filter(|filter| !is_kept || filter.name != SYNTHETIC) {
        (filter.apply)(context, &mut output);
    }
    output
}

/// A filter that leaves out a part of a method.
#[derive(Debug, Clone, Copy)]
pub struct Finding<'a> {
    /// The method.
    pub method: &'a MethodDescription<'a>,
    /// The filter.
    pub filter: &'static Filter,
}

/// Lists the filters that leave out parts of a class's methods.
#[must_use]
pub fn findings<'a>(class: &'a ClassDescription<'a>) -> Vec<Finding<'a>> {
    let mut findings = Vec::new();
    for method in class.methods {
        let Some(code) = &method.code else {
            continue;
        };
        let nodes = &Nodes::new(code);
        let context = FilterContext {
            class,
            method,
            code,
            nodes,
            labels: None,
        };
        let kotlin = class.is_kotlin();
        for filter in ALL.iter().filter(|filter| filter.is_for(kotlin)) {
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
    ($($classes:ident { $($module:ident $(:: $inner:ident)? $name:literal $doc:literal)* })*) => {
        &[$($(Filter {
            name: $name,
            doc: $doc,
            classes: Classes::$classes,
            apply: $module$(::$inner)?::apply,
        }),*),*]
    };
}

/// The filters, in the order of their application.
pub const ALL: &[Filter] = filters! {
    Any {
        synthetic_class "synthetic-class" "All methods of a class marked ACC_SYNTHETIC."
        enum_methods "enum-methods" "`values()` and `valueOf(String)` of an enum."
        bridge "bridge" "Methods marked ACC_BRIDGE."
        synchronized "synchronized" "The handler that exits the monitor of a `synchronized` block after an exception."
        try_with_resources_javac11 "try-with-resources-javac11" "The closing of resources as javac 11 and later compile it."
        try_with_resources_javac "try-with-resources-javac" "The closing of resources as javac 7 to 10 compile it."
        try_with_resources_ecj "try-with-resources-ecj" "The closing of resources as the Eclipse compiler compiles it."
        finally "finally" "All copies of a `finally` block except one."
        private_constructor "private-empty-constructor" "A private constructor without parameters and without code."
        assert "assert" "The test for enabled assertions, and its initialisation."
        string_switch_javac "string-switch-javac" "The look-up of the key in a `switch` on strings as javac compiles it."
        string_switch "string-switch" "The comparisons in a `switch` on strings of other compilers: they become the branches of one switch."
        enum_constructor "enum-empty-constructor" "A constructor of an enum without parameters and without code."
        record_members "record-members" "`equals`, `hashCode`, `toString` and the accessors of a record that the compiler generated."
        exhaustive_switch "exhaustive-switch" "The default branch of an exhaustive `switch`, which throws `MatchException` or `IncompatibleClassChangeError`."
        record_pattern "record-pattern" "The handler that wraps an exception of an accessor during the matching of a record pattern."
        annotation_generated "annotation-generated" "Classes and methods with an annotation that is in the class file and whose simple name contains `Generated`."
    }
    Kotlin {
        kotlin::without_lines "kotlin-without-lines" "Methods without line numbers, and code before the first line of others, such as checks of parameters."
        kotlin::accessor "kotlin-accessor" "Accessors of private members."
        kotlin::serializable "kotlin-serializable" "Members generated for `@Serializable`."
        kotlin::enum_entries "kotlin-enum-entries" "`getEntries()` of an enum."
        kotlin::overload "kotlin-overload" "The `void` overloads generated for `@JvmOverloads`, including constructors."
        kotlin::static_delegate "kotlin-static-delegate" "The static methods generated for `@JvmStatic` functions without parameters."
        kotlin::safe_call "kotlin-safe-call" "The null checks of a chain of `?.`, also followed by `?:`: a null in one check covers this branch of all."
        kotlin::lateinit "kotlin-lateinit" "The check that a `lateinit` property has a value."
        kotlin::exhaustive_when "kotlin-exhaustive-when" "The default branch of an exhaustive `when`, and the code that finds the number of a nullable enum constant."
        kotlin::string_when "kotlin-string-when" "The comparisons in a `when` on strings: they become the branches of one switch."
        kotlin::unsafe_cast "kotlin-unsafe-cast" "The null check of `as`."
        kotlin::not_null "kotlin-not-null" "The null check of `!!`."
        kotlin::value_class "kotlin-value-class" "The boxed form of a value class."
        kotlin::exposed "kotlin-exposed" "Methods generated for `@JvmExposeBoxed`."
        kotlin::default_argument "kotlin-default-argument" "The tests for default arguments in `…$default`."
        kotlin::inlined "kotlin-inlined" "Inlined instructions."
        kotlin::coroutine "kotlin-coroutine" "The state machine of a `suspend` function."
        kotlin::interface_delegate "kotlin-interface-delegate" "Methods that only call the body of an interface's function."
        kotlin::compose "kotlin-compose" "The code that the Compose compiler adds around the body of a `@Composable` function."
    }
    NotKotlin {
        synthetic "synthetic" "Methods marked ACC_SYNTHETIC, except the bodies of lambdas, in classes of other compilers than Kotlin's."
    }
};

/// The filters that [`Counting::Source`] applies after all others.
pub const OF_SOURCE: &[Filter] = filters! {
    NotKotlin {
        record_pattern_tests "record-pattern-tests" "The tests of the components of a record pattern, and the code that restarts a `switch` over patterns after a case."
        scala "scala-members" "Members that the Scala compilers generate: those of case classes, enumerations and companions, accessors, forwarders, constant values of parameters, the tests of lazy values, and the error of a `match` without a matching case."
        aspectj "aspectj-members" "Members that AspectJ's compiler and weaver generate, except advice, to find aspects, forward calls and describe join points."
    }
    Kotlin {
        kotlin::tail_call "kotlin-tail-call" "The return of `Unit` after a suspending call at the end of a `suspend` function: both exits count as one."
    }
};

#[cfg(test)]
mod tests;
