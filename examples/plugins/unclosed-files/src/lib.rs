//! Reports the `FileInputStream`s and `FileOutputStream`s that were never closed, with the stack
//! that opened them, when the JVM ends.

use classhook_sdk::edit::Member;
use classhook_sdk::opcode::INVOKESTATIC;
use classhook_sdk::prelude::*;

/// `helper/OpenFiles.java`, compiled with `javac --release 8`.
const OPEN_FILES: &[u8] = include_bytes!("../helper/OpenFiles.class");

/// Changes two classes of the JDK.
pub struct UnclosedFiles;

impl Transformer for UnclosedFiles {
    type Config = NoSettings;

    fn new(_: NoSettings) -> Result<Self> {
        Ok(Self)
    }

    fn select(&self) -> Vec<String> {
        let classes = ["FileInputStream", "FileOutputStream"];
        let classes = classes.map(|class| format!("java/io/{class}"));
        [&classes[..], &["loader:boot".to_owned()]].concat()
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let helper = plan.helpers(&[OPEN_FILES])?.remove(0);
        for method in class.methods() {
            match (method.name(), method.descriptor()) {
                // The constructors call it.
                ("open", _) => plan.insert(&method.returns(), &call_of(&helper, "opened"))?,
                ("close", "()V") => plan.insert(&[method.entry()], &call_of(&helper, "closed"))?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Generates `OpenFiles.method(this)`.
fn call_of(helper: &str, method: &str) -> Snippet {
    let method = Member::of_class(helper, method, "(Ljava/lang/Object;)V");
    let mut code = Snippet::new();
    code.load_this().invoke(INVOKESTATIC, method);
    code
}

classhook_sdk::export!(UnclosedFiles);
