//! The explanation of a class agrees with its transformation.

#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/shapes.rs"]
mod shapes;

use class_text::RemarkContent;
use compiler::compiler;
use host::{ClassRequest, Config, Explained, Loader, Outcome, Pipeline};
use shapes::{SHAPES, request, table};

#[test]
fn explanation_has_the_same_bytes_and_every_edit() {
    let pipeline = Pipeline::new(&Config::default(), &compiler()).unwrap();
    let (mut done, mut explained) = (Vec::new(), Vec::new());
    let outcome = pipeline.transform(&request(SHAPES), &table(), &mut done);
    assert_eq!(outcome, Outcome::Changed);
    let (outcome, explanation) = pipeline.explain(&request(SHAPES), &table(), &mut explained);
    assert_eq!((outcome, explained), (Outcome::Changed, done.clone()));
    assert_eq!(explanation.asked, ["coverage"]);
    assert_eq!(explanation.skipped, []);
    let remarks = explanation.remarks.iter().map(Explained::remark);
    let edits = remarks.filter(|remark| matches!(remark.content, RemarkContent::Insert(_)));
    let stores = |bytes: &[u8]| {
        let class = rewriter::ClassFile::read(bytes).unwrap();
        let mut text = String::new();
        class_text::class(&class, &mut text).unwrap();
        text.matches("Field java/lang/$Classhook.").count()
    };
    assert_eq!(edits.count(), stores(&done));
    assert!(stores(&done) > 5 && stores(SHAPES) == 0);
}

#[test]
fn excluded_class_reaches_no_plugin() {
    let pipeline = Pipeline::new(&Config::default(), &compiler()).unwrap();
    let request = ClassRequest {
        loader: &Loader::Boot,
        ..request(SHAPES)
    };
    let mut out = Vec::new();
    let (outcome, explanation) = pipeline.explain(&request, &table(), &mut out);
    assert_eq!((outcome, out.len()), (Outcome::Unchanged, 0));
    assert!(explanation.asked.is_empty() && explanation.remarks.is_empty());
}
