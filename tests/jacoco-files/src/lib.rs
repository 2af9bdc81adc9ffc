//! JaCoCo's `.exec` files and XML reports, read independently of the product, so that tests can compare the two.
//!
//! This code is deliberately not shared with `coverage`: a mistake there must not be repeated here.
//! It is a crate of its own because it is optimised: reports of whole libraries have millions of values.
//!
//! ```
//! let report = jacoco_files::XmlReport::parse(
//!     r#"<report name="x"><counter type="LINE" missed="1" covered="2"/></report>"#,
//! );
//! assert_eq!(report.values("/counter LINE"), Some("covered=2 missed=1"));
//! ```

mod exec;
mod xml_report;

pub use exec::{ClassKey, Execution, Unstable};
pub use xml_report::XmlReport;
