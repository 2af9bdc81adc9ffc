//! Selectors of classes outside a JVM, and the names nearest to one that matches nothing.
//!
//! | module | holds |
//! |---|---|
//! | [`filter`] | the agent's selectors, applied to class files and run files |
//! | [`excluded_annotations`] | annotations that exclude their classes and methods |
//! | [`nearest`] | the names nearest to a selector without a match |
//!
//! An invalid selector is a coded [`errors::Error`].
//!
//! ```
//! use class_selection::filter::Filter;
//! use class_selection::nearest::nearest;
//!
//! let filter = Filter::new(&["com.acme.**; !com.acme.internal.**".to_owned()])?;
//! assert!(filter.wants_name("com/acme/Shop"));
//! assert!(!filter.wants_name("com/acme/internal/Cache"));
//!
//! let loaded = ["com.acme.Shop".to_owned(), "com.acme.Cart".to_owned()];
//! assert_eq!(nearest("com.acme.Shopp", &loaded).as_deref(), Some("com.acme.Shop"));
//! # Ok::<(), errors::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod excluded_annotations;
pub mod filter;
pub mod nearest;
