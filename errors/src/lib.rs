//! Errors and warnings with stable codes, as values: a library returns them, and a program prints
//! them.
//!
//! | module | holds |
//! |---|---|
//! | [`error`] | the error that ends a job, with the class of its cause |
//! | [`warning`] | a remark beside a result, and the list of a job |
//! | [`notes`] | the lines below a message |
//!
//! The codes ([`codes::H0620`]) and their meanings are in `error-codes`.
//!
//! ```
//! use errors::{Error, PARTIAL, Warning, Warnings, codes};
//!
//! let error = Error::mistake(codes::H0612, "cannot read Shop.class")
//!     .with("found", "permission denied")
//!     .with("help", "check the path and its permissions");
//! assert_eq!(error.code(), "H0612");
//! assert_eq!(error.exit(), 2);
//! assert_eq!(
//!     error.to_string(),
//!     "error[H0612]: cannot read Shop.class
//!   found    permission denied
//!   help     check the path and its permissions"
//! );
//! assert_eq!(error.partly().exit(), PARTIAL);
//!
//! let mut warnings = Warnings::default();
//! warnings.add(Warning::new(codes::H0616, "no class file of shop.Cart").of_missing());
//! assert!(warnings.of_missing());
//! ```
#![forbid(unsafe_code)]

pub mod error;
pub mod notes;
pub mod warning;

pub use error::{Cause, Error, PARTIAL, SHORT};
pub use error_codes::{ErrorCode, find as find_code, table as codes};
pub use warning::{Warning, Warnings};
