use super::*;
use std::path::PathBuf;

/// Returns the circles of a crate with these files below `src`.
fn circles(files: &[(&str, &str)]) -> Vec<String> {
    let files: BTreeMap<PathBuf, &str> = files
        .iter()
        .map(|(name, text)| (Path::new("src").join(name), *text))
        .collect();
    let source = |file: &Path| files.get(file).map(|text| (*text).to_owned());
    of_crate(Path::new("src/lib.rs"), &source).expect("the crate is read")
}

/// Returns the modules of each circle.
fn members(files: &[(&str, &str)]) -> Vec<String> {
    let first = |circle: &String| {
        let line = circle.lines().next().unwrap_or_default();
        let (_, names) = line.split_once(": ").expect("names");
        names.to_owned()
    };
    circles(files).iter().map(first).collect()
}

const LIB: (&str, &str) = ("lib.rs", "mod a; mod b; mod c;");

#[test]
fn modules_that_import_each_other_are_a_circle() {
    let a = ("a.rs", "use crate::b::B; pub struct A(B);");
    let b = ("b.rs", "use crate::a::A; pub struct B(Box<A>);");
    let c = ("c.rs", "");
    assert_eq!(
        circles(&[LIB, a, b, c]),
        [
            "a circle of 2 modules and 2 lines: a, b\n  a -> b\n    src/a.rs:1: B\n  b -> a\n    src/b.rs:1: A"
        ]
    );
    let b = ("b.rs", "pub struct B;");
    assert!(circles(&[LIB, a, b, c]).is_empty());
}

#[test]
fn circle_over_three_modules() {
    let files = [
        LIB,
        ("a.rs", "use crate::b; pub fn f() { b::f() }"),
        ("b.rs", "pub fn f() { super::c::f() }"),
        ("c.rs", "pub fn f() { g(|| crate::a::f()) }"),
    ];
    assert_eq!(members(&files), ["a, b, c"]);
}

#[test]
fn path_in_a_macro_is_a_use() {
    let files = [
        LIB,
        ("a.rs", "fn f() { println!(\"{}\", crate::b::f(1)) }"),
        (
            "b.rs",
            "pub fn f(i: u8) -> u8 { assert!(matches!(i, super::a::ONE)); i }",
        ),
        ("c.rs", ""),
    ];
    assert_eq!(members(&files), ["a, b"]);
}

#[test]
fn foreign_names_are_no_use() {
    let files = [
        LIB,
        (
            "a.rs",
            "use b::x; use ::c::y; fn f(s: &S) { println!(\"{}\", s.b) }",
        ),
        ("b.rs", "use crate::a::f;"),
        ("c.rs", "use crate::a::f;"),
    ];
    assert!(circles(&files).is_empty());
}

#[test]
fn parent_and_child_that_import_each_other_are_a_circle() {
    let child = ("a/x.rs", "use super::A; pub fn f(_: A) {}");
    let by_import = ("a.rs", "mod x; use x::f; pub struct A; pub fn g() { f(A) }");
    let by_path = ("a.rs", "mod x; pub struct A; pub fn g() { x::f(A) }");
    let lib = ("lib.rs", "mod a;");
    assert_eq!(members(&[lib, by_import, child]), ["a, a::x"]);
    assert_eq!(members(&[lib, by_path, child]), ["a, a::x"]);

    let apart = ("a.rs", "mod x; pub struct A;");
    assert!(circles(&[lib, apart, child]).is_empty());
}

#[test]
fn circle_through_a_parent() {
    let files = [
        ("lib.rs", "mod a;"),
        ("a.rs", "mod x; mod y; pub fn f() { x::f() }"),
        ("a/x.rs", "use super::y; pub fn f() { y::f() }"),
        ("a/y.rs", "pub fn f() { super::f() }"),
    ];
    assert_eq!(members(&files), ["a, a::x, a::y"]);
}

#[test]
fn parent_that_only_re_exports_is_in_no_circle() {
    let files = [
        LIB,
        ("a.rs", "mod x; mod y; pub use x::X; pub use y::*;"),
        ("a/x.rs", "pub struct X;"),
        ("a/y.rs", "use super::x::X; pub struct Y(X);"),
        ("b.rs", "use crate::a::{X, Y};"),
        ("c.rs", "use crate::b::f;"),
    ];
    assert!(circles(&files).is_empty());
}

#[test]
fn child_that_uses_a_re_export_of_its_parent_is_in_a_circle() {
    let lib = ("lib.rs", "mod a;");
    let child = ("a/y.rs", "use super::X; pub struct Y(X);");
    let names = (
        "a.rs",
        "mod x; mod y; pub use x::X; pub use y::Y; fn f(_: Y) {}",
    );
    let x = ("a/x.rs", "pub struct X;");
    assert_eq!(members(&[lib, names, x, child]), ["a, a::y"]);

    let private = ("a.rs", "mod x; mod y; use x::X; use y::Y;");
    assert_eq!(members(&[lib, private, x, child]), ["a, a::y"]);
}

#[test]
fn use_of_a_re_export_leads_to_the_defining_module() {
    let files = [
        LIB,
        ("a.rs", "mod x; pub use x::X;"),
        ("a/x.rs", "use crate::b::B; pub struct X(B);"),
        ("b.rs", "pub use crate::c::B;"),
        ("c.rs", "use crate::a::X; pub struct B(X);"),
    ];
    let found = circles(&files);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("a, c"), "{found:?}");
    assert!(found[0].contains("src/c.rs:1: X of a::x"), "{found:?}");
}

#[test]
fn circle_of_two_folders_although_no_two_files_import_each_other() {
    let files = [
        LIB,
        ("a.rs", "mod x; mod y;"),
        ("a/x.rs", "use crate::b::x::B;"),
        ("a/y.rs", "pub struct A;"),
        ("b.rs", "pub mod x; mod y;"),
        ("b/x.rs", "pub struct B;"),
        ("b/y.rs", "use crate::a::y::A;"),
        ("c.rs", ""),
    ];
    assert_eq!(members(&files), ["a, b"]);
}

#[test]
fn circle_at_depth() {
    let files = [
        ("lib.rs", "mod a { pub mod b; }"),
        (
            "a/b.rs",
            "mod x; mod y { pub struct Y; impl super::x::X {} }",
        ),
        ("a/b/x.rs", "use super::y::Y; pub struct X(Y);"),
    ];
    assert_eq!(members(&files), ["a::b::x, a::b::y"]);
}

#[test]
fn code_for_tests_only_is_left_out() {
    let files = [
        LIB,
        ("a.rs", "use crate::b::B; #[cfg(test)] mod tests;"),
        (
            "b.rs",
            "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }",
        ),
        (
            "c.rs",
            "#[cfg(test)] use crate::a::A; #[cfg(all(test, unix))] fn f() { crate::a::f() }",
        ),
    ];
    assert!(circles(&files).is_empty());
}

#[test]
fn module_and_function_of_the_same_name() {
    let lib = ("lib.rs", "mod a; mod b; pub use b::b;");
    let a = ("a.rs", "use crate::b; pub struct A; fn f() { b::g() }");
    let b = ("b.rs", "pub fn b() {} pub fn g() {}");
    assert!(circles(&[lib, a, b]).is_empty());
}

#[test]
fn missing_file_is_an_error() {
    let source = |file: &Path| (file == Path::new("src/lib.rs")).then(|| "mod a;".to_owned());
    assert!(of_crate(Path::new("src/lib.rs"), &source).is_err());
}
