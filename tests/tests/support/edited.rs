//! A class file that tests edit and write back.

#[path = "../../../rewriter/tests/suite/samples.rs"]
mod samples;

use std::path::{Path, PathBuf};

use rewriter::{
    Bci, CheckScratch, ClassFile, EditPlan, Method, MethodIndex, ProbeStorage, Scratch,
    SpliceReport, check_splice, splice,
};

pub use samples::{member, summing};

const STORAGE: ProbeStorage<'_> = ProbeStorage::SharedArray {
    owner: "java/lang/$Classhook",
    field: "hits0",
};

/// A class file.
pub struct Edited {
    file: PathBuf,
    bytes: &'static [u8],
}

impl Edited {
    /// Reads a class file; the bytes stay for the whole test.
    pub fn read(file: &Path) -> Self {
        let bytes =
            std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        Self {
            file: file.to_owned(),
            bytes: bytes.leak(),
        }
    }

    /// Returns the original class.
    pub fn class(&self) -> ClassFile<'static> {
        ClassFile::read(self.bytes).expect("a class file")
    }

    /// Returns the first instruction with this opcode in a method.
    pub fn first(&self, method: &str, wanted: u8) -> (MethodIndex, Bci) {
        let class = self.class();
        let method = find(&class, method);
        let code = method.code().expect("readable code").expect("code");
        let mut instructions = code.instructions().map(Result::unwrap);
        let found = instructions.find(|found| found.opcode == wanted);
        (method.index(), found.expect("such an instruction").bci)
    }

    /// Returns the last instruction with this opcode in a method.
    pub fn last(&self, method: &str, wanted: u8) -> (MethodIndex, Bci) {
        let class = self.class();
        let method = find(&class, method);
        let code = method.code().expect("readable code").expect("code");
        let instructions = code.instructions().map(Result::unwrap);
        let found = instructions.filter(|found| found.opcode == wanted).last();
        (method.index(), found.expect("such an instruction").bci)
    }

    fn splice(&self, plan: &EditPlan) -> (Vec<u8>, SpliceReport) {
        let class = self.class();
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        let report = splice(&class, plan, &STORAGE, &mut scratch, &mut out).expect("a plan");
        check_splice(&class, plan, &STORAGE, &out, &mut CheckScratch::default())
            .expect("the self-check");
        (out, report)
    }

    /// Applies the whole plan and overwrites the file.
    pub fn write(&mut self, plan: EditPlan) {
        let file = self.file.clone();
        self.write_to(plan, &file);
    }

    /// Applies the whole plan, writes another file, and returns its bytes.
    pub fn write_to(&mut self, plan: EditPlan, file: &Path) -> Vec<u8> {
        let (out, report) = self.splice(&plan);
        assert_eq!((report.skipped, report.refused), (Vec::new(), None));
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a writable folder");
        std::fs::write(file, &out).expect("a writable folder");
        out
    }

    /// Returns the reason why the class stays unchanged, if it does.
    pub fn refused(&mut self, plan: &EditPlan) -> Option<String> {
        let (out, report) = self.splice(plan);
        let refused = report.refused?;
        assert_eq!(out, self.bytes);
        std::fs::write(&self.file, &out).expect("a writable folder");
        Some(refused.to_string())
    }
}

/// Returns the first method with this name.
pub fn find<'c, 'a>(class: &'c ClassFile<'a>, name: &str) -> Method<'c, 'a> {
    let mut methods = class.methods();
    methods
        .find(|method| method.name() == name)
        .unwrap_or_else(|| panic!("no method {name}"))
}
