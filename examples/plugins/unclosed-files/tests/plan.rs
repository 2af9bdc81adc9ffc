//! The plan of the plugin, without a JVM.

use classhook_testkit::{Harness, java};
use unclosed_files::UnclosedFiles;

#[test]
fn opening_and_closing_call_the_helper_class() {
    let stream = java! { "class Stream { private void open(String name) {} public void close() {} int read() { return 0; } }" };
    let transformed = Harness::<UnclosedFiles>::default().transform(&stream);
    let (name, _) = transformed.helpers().next().expect("a helper class");
    assert!(name.ends_with("$OpenFiles"), "{name}");
    let plan = transformed.to_string();
    for call in ["opened", "closed"] {
        let call = format!("{name}.{call}:(Ljava/lang/Object;)V");
        assert!(plan.contains(&call), "{call}: {plan}");
    }
    assert!(!plan.contains("read"), "{plan}");
    assert!(!transformed.splice().is_empty());
}
