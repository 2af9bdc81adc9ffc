//! The JDK's own classes, `java.lang.Object` among them, with probes.

use crate::support::agent::{hits, java, noise, snapshot};
use e2e_tests::jdks;
use e2e_tests::scratch;

/// Every probe in a class of the boot loader finds its array without calling code.
#[test]
fn whole_java_library_is_covered_while_the_program_runs_as_before() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let options = format!(
            "output={},plugin=coverage,grant=probes;boot,select=**;location:any",
            folder.path().display()
        );
        let plain = java(&jdk).main("Life").argument("end").run();
        let run = java(&jdk)
            .agent(Some(&options))
            .main("Life")
            .argument("end")
            .run();
        run.assert_success();
        assert_eq!(run.stdout, plain.stdout, "on {jdk}");
        assert_eq!(noise(&run), noise(&plain), "on {jdk}");
        let snapshot = snapshot(folder.path());
        assert!(snapshot.complete, "on {jdk}");
        assert_eq!(
            snapshot.summary.failed, 0,
            "on {jdk}: {:?}",
            snapshot.failures
        );
        for class in [
            "java/lang/Object",
            "java/lang/String",
            "java/util/HashMap",
            "Life",
        ] {
            let (hit, all) = hits(&snapshot, class);
            assert!(hit > 0 && hit <= all, "{class} on {jdk}: {hit} of {all}");
        }
    }
}
