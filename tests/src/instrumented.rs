//! Classes instrumented by `classhook instrument`, and their recordings.

use crate::java::{Java, Run};
use crate::programs::Workload;
use crate::workspace;
use std::path::{Path, PathBuf};

/// A class path that runs without the agent.
#[derive(Debug)]
pub struct Instrumented {
    /// The class path, with the runtime at its end.
    pub class_path: Vec<PathBuf>,
    /// The snapshot with the original classes.
    pub baseline: PathBuf,
}

/// Returns the command `classhook instrument` with these arguments.
pub fn instrument<A: AsRef<std::ffi::OsStr>>(arguments: &[A]) -> Java {
    Java::program(workspace::classhook())
        .argument("instrument")
        .arguments(arguments)
}

/// Instruments each entry of a class path separately.
///
/// # Panics
/// If the command fails.
pub fn class_path(entries: &[PathBuf], folder: &Path) -> Instrumented {
    std::fs::create_dir_all(folder).expect("the test's folder is writable");
    let runtime = folder.join("classhook-runtime.jar");
    instrument(&["--runtime".as_ref(), runtime.as_os_str()])
        .run()
        .assert_success();
    let baselines = folder.join("baselines");
    let mut class_path = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let name = entry
            .file_name()
            .expect("an entry has a name")
            .to_string_lossy();
        let out = folder.join(number.to_string()).join(name.as_ref());
        let run = instrument(&[entry, Path::new("-o"), &out])
            .argument("--baseline")
            .argument(baselines.join(format!("{number}.hook")))
            .run();
        run.assert_success();
        class_path.push(out);
    }
    class_path.push(runtime);
    Instrumented {
        class_path,
        baseline: baselines,
    }
}

/// Runs a program from instrumented classes with full verification. It records into `output`.
pub fn run(
    workload: &Workload<'_>,
    instrumented: &Instrumented,
    scratch: &Path,
    output: &Path,
) -> Run {
    let mut property = std::ffi::OsString::from("-Dclasshook.output=");
    property.push(output);
    workload
        .with_class_path(instrumented.class_path.clone())
        .java(scratch, "run")
        .option("-Xverify:all")
        .option(property)
        .run()
}
