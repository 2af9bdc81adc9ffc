//! Counters of methods, classes, source files, packages and whole bundles.
//!
//! The rules are JaCoCo's. A line counts as covered when any of its instructions was executed. A method counts when
//! any of its instructions was executed, a class when any of its methods was. The lines of a source file are the sum
//! of the lines of all its classes. A package counts each source file once, and beside them only the classes without
//! a source file.
//!
//! ```
//! use coverage::model::{BundleBuilder, ClassCoverage, Counter, MethodCoverage};
//!
//! let mut method = MethodCoverage::new("run", "()V", None);
//! method.increment(Counter::COVERED, Counter::EMPTY, Some(7));
//! method.increment(Counter::COVERED, Counter::new(1, 1), Some(7));
//! method.close();
//! let mut class = ClassCoverage::new(1, "bank/Account");
//! class.source_file = Some("Account.java".into());
//! class.add_method(method);
//! let mut builder = BundleBuilder::default();
//! builder.add(class).unwrap();
//! let bundle = builder.build("bank");
//! assert_eq!(bundle.counters.branch, Counter::new(1, 1));
//! assert_eq!(bundle.packages[0].source_files[0].lines.len(), 1);
//! ```

mod bundle;
mod changed;
mod counter;
mod decision;
mod fragment;
mod node;

pub use bundle::{BundleBuilder, BundleCoverage, BundleError, PackageCoverage, SourceFileCoverage};
pub use changed::Changed;
pub use counter::{Counter, CounterKind, Counters, Status};
pub use decision::{Branch, Decision, Outcome};
pub(crate) use node::Fragment;
pub use node::{CarriedOver, ClassCoverage, LineCoverage, Lines, MethodCoverage};
