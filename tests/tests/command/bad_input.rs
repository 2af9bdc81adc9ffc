//! Mistakes of users: each gets a code, the expected and found values, and a remedy. The JVM starts or refuses as
//! configured.

use e2e_tests::java::{Java, Run};
use e2e_tests::jdks;
use e2e_tests::workspace::{self, test_file};
use e2e_tests::{javac, scratch};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

/// One mistake: the agent's options, in a folder, and the expected message.
struct Mistake {
    /// The options, for a folder of this case alone.
    options: fn(&Path) -> String,
    /// The stable code.
    code: &'static str,
    /// Words of the message.
    says: &'static [&'static str],
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, bytes).expect("the test's folder is writable");
    file
}

fn with_config(folder: &Path, text: &str) -> String {
    format!("config={}", write(folder, "classhook.toml", text).display())
}

fn output(folder: &Path) -> String {
    format!("output={}", folder.join("out").display())
}

/// Checks that the program runs as if without the agent, or not at all in a strict run, and that the mistake is
/// explained.
#[track_caller]
fn check(mistake: &Mistake) {
    for jdk in jdks::all() {
        let folder = scratch();
        let source = test_file("java/Misbehaved.java");
        let classes = javac::compile(
            &jdks::newest(),
            &[&source],
            folder.path(),
            &["--release", "11"],
        );
        let program = Java::new(jdk)
            .option("-Xcheck:jni")
            .class_path(&[&classes])
            .folder(folder.path());
        let expected = program.clone().main("Misbehaved").run();
        let options = (mistake.options)(folder.path());
        let run = program
            .clone()
            .agent(Some(&options))
            .main("Misbehaved")
            .run();
        assert_eq!(
            (&run.stdout, run.status),
            (&expected.stdout, expected.status),
            "{}",
            run.report()
        );
        assert_explained(&run, mistake);
        let run = program
            .agent(Some(&format!("{options},on-error=strict")))
            .main("Misbehaved")
            .run();
        assert!(
            !run.stdout.contains("hello world"),
            "the program ran\n{}",
            run.report()
        );
        assert_eq!(
            (run.status.code(), run.status.signal()),
            (Some(1), None),
            "{}",
            run.report()
        );
        assert_explained(&run, mistake);
    }
}

#[track_caller]
fn assert_explained(run: &Run, mistake: &Mistake) {
    run.assert_stderr(&format!("error[{}]", mistake.code));
    for words in mistake.says {
        run.assert_stderr(words);
    }
}

#[test]
fn missing_plugin_file() {
    let options = |folder: &Path| {
        format!(
            "plugin={},{}",
            folder.join("gone.wasm").display(),
            output(folder)
        )
    };
    check(&Mistake {
        options,
        code: "H0106",
        says: &["gone.wasm", "help"],
    });
}

#[test]
fn plugin_file_that_is_no_component() {
    let options = |folder: &Path| {
        format!(
            "plugin={},{}",
            write(folder, "text.wasm", "hello").display(),
            output(folder)
        )
    };
    check(&Mistake {
        options,
        code: "H0106",
        says: &["text.wasm", "help"],
    });
    let options = |folder: &Path| {
        format!(
            "plugin={},{}",
            write(folder, "module.wasm", b"\0asm\x01\0\0\0").display(),
            output(folder)
        )
    };
    check(&Mistake {
        options,
        code: "H0106",
        says: &["module.wasm", "component"],
    });
}

/// The command neither waits for such a file nor reads it without end.
#[test]
fn plugin_file_that_is_no_file_or_too_large() {
    let options = |folder: &Path| format!("plugin=/dev/zero,{}", output(folder));
    check(&Mistake {
        options,
        code: "H0106",
        says: &["/dev/zero", "a device", "regular file"],
    });
    let options = |folder: &Path| {
        let pipe = folder.join("pipe.wasm");
        if !pipe.exists() {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).expect("a pipe");
        }
        format!("plugin={},{}", pipe.display(), output(folder))
    };
    check(&Mistake {
        options,
        code: "H0106",
        says: &["pipe.wasm", "a named pipe"],
    });
    let options = |folder: &Path| {
        let sparse = folder.join("sparse.wasm");
        let file = std::fs::File::create(&sparse).expect("the test's folder is writable");
        file.set_len(1 << 40).expect("a sparse file");
        format!("plugin={},{}", sparse.display(), output(folder))
    };
    check(&Mistake {
        options,
        code: "H0117",
        says: &["sparse.wasm", "1099511627776 bytes", "32 MiB"],
    });
}

#[test]
fn plugin_file_that_was_cut_short() {
    let options = |folder: &Path| {
        let whole = std::fs::read(workspace::target("bundled/coverage.wasm"))
            .expect("run `cargo xtask build`");
        format!(
            "plugin={},{}",
            write(folder, "cut.wasm", &whole[..whole.len() / 2]).display(),
            output(folder)
        )
    };
    check(&Mistake {
        options,
        code: "H0106",
        says: &["cut.wasm", "help"],
    });
}

#[test]
fn unknown_bundled_plugin() {
    let options = |folder: &Path| format!("plugin=coverag,{}", output(folder));
    check(&Mistake {
        options,
        code: "H0105",
        says: &["coverag", "expected", "coverage"],
    });
}

#[test]
fn plugin_that_requires_more_than_its_grants() {
    let options = |folder: &Path| {
        let plugin = workspace::target("bundled/coverage.wasm");
        format!("plugin={},{}", plugin.display(), output(folder))
    };
    check(&Mistake {
        options,
        code: "H0203",
        says: &["probes", "grant"],
    });
}

#[test]
fn plugin_with_another_digest() {
    let options = |folder: &Path| {
        let plugin = workspace::target("bundled/coverage.wasm");
        let digest = "0".repeat(64);
        let text = format!(
            "[[plugin]]\nuse = \"{}\"\ngrant = [\"probes\"]\ndigest = \"sha256:{digest}\"\n",
            plugin.display()
        );
        with_config(folder, &text)
    };
    check(&Mistake {
        options,
        code: "H0109",
        says: &["sha256", "expected", "found"],
    });
}

#[test]
fn plugin_that_refuses_its_configuration() {
    let options = |folder: &Path| {
        with_config(
            folder,
            "[[plugin]]\nuse = \"coverage\"\n[plugin.config]\nbranches = true\n",
        )
    };
    check(&Mistake {
        options,
        code: "H0111",
        says: &["coverage", "branches"],
    });
}

#[test]
fn missing_configuration() {
    let options = |folder: &Path| format!("config={}", folder.join("gone.toml").display());
    check(&Mistake {
        options,
        code: "H0102",
        says: &["gone.toml", "help"],
    });
}

#[test]
fn configuration_that_is_no_toml() {
    let options = |folder: &Path| with_config(folder, "[agent\noutput = 3");
    check(&Mistake {
        options,
        code: "H0103",
        says: &["classhook.toml"],
    });
}

#[test]
fn configuration_with_an_unknown_key() {
    let options = |folder: &Path| with_config(folder, "[agent]\noutptu = \"out\"\n");
    check(&Mistake {
        options,
        code: "H0104",
        says: &["outptu", "classhook.toml", "output"],
    });
}

#[test]
fn unknown_option_and_wrong_value() {
    let options = |folder: &Path| format!("outptu=x,{}", output(folder));
    check(&Mistake {
        options,
        code: "H0113",
        says: &["outptu", "output"],
    });
    let options = |folder: &Path| format!("log=loud,{}", output(folder));
    check(&Mistake {
        options,
        code: "H0105",
        says: &["loud", "expected", "debug"],
    });
    let options = |folder: &Path| format!("select=a..b c,{}", output(folder));
    check(&Mistake {
        options,
        code: "H0110",
        says: &["select"],
    });
}

/// Root may write everywhere, so a file takes the folder's place.
#[test]
fn output_folder_that_cannot_be_created() {
    let options = |folder: &Path| {
        format!(
            "output={}",
            write(folder, "taken", "").join("out").display()
        )
    };
    check(&Mistake {
        options,
        code: "H0404",
        says: &["taken", "output="],
    });
}

/// Runs `classhook` and expects exit code 2 with an error code.
#[track_caller]
fn check_command(arguments: &[&Path], code: &str, says: &[&str]) {
    let run = Java::program(workspace::classhook())
        .arguments(arguments)
        .run();
    run.assert_exit(2);
    run.assert_stderr(&format!("[{code}]"));
    for words in says {
        run.assert_stderr(words);
    }
}

#[test]
fn report_of_a_file_that_is_no_snapshot() {
    let folder = scratch();
    let text = write(folder.path(), "text.hook", "hello");
    check_command(&["report".as_ref(), &text], "H0611", &["text.hook"]);
    let gone = folder.path().join("gone.hook");
    check_command(&["report".as_ref(), &gone], "H0612", &["gone.hook"]);
    check_command(
        &["report".as_ref(), folder.path().join("empty").as_path()],
        "H0612",
        &["empty"],
    );
}

#[test]
fn command_that_does_not_exist_and_option_that_does_not() {
    let run = Java::program(workspace::classhook())
        .argument("cover")
        .run();
    run.assert_exit(2).assert_stderr("coverage");
    let run = Java::program(workspace::classhook())
        .argument("report")
        .argument("--htlm")
        .run();
    run.assert_exit(2).assert_stderr("--html");
    let folder = scratch();
    let gone = folder.path().join("no-such-program");
    check_command(
        &["run".as_ref(), "--".as_ref(), &gone],
        "H0602",
        &["no-such-program"],
    );
}

/// A class file, a jar and a folder without classes: the report names them and covers the rest.
#[test]
fn inputs_without_classes() {
    let folder = scratch();
    let jdk = jdks::newest();
    let classes = javac::compile(
        &jdk,
        &[&test_file("java/Misbehaved.java")],
        folder.path(),
        &[],
    );
    let snapshots = folder.path().join("out");
    Java::new(&jdk)
        .class_path(&[&classes])
        .coverage(&snapshots)
        .main("Misbehaved")
        .run()
        .assert_success();
    // The broken file is beside the classes that ran: `--classes` alone selects the report's classes.
    let broken = write(&classes, "Broken.class", b"\xCA\xFE\xBA\xBE nothing more");
    let report = |classes: &Path| {
        let report = Java::program(workspace::classhook())
            .argument("report")
            .argument(&snapshots);
        report.argument("--classes").argument(classes).run()
    };
    let run = report(broken.parent().expect("a folder"));
    run.assert_exit(3).assert_stderr("Broken.class");
    assert!(
        run.stdout.contains("Misbehaved") || run.stdout.contains('%'),
        "{}",
        run.report()
    );
    let jar = write(folder.path(), "broken.jar", b"PK\x03\x04 and nothing more");
    report(&jar).assert_exit(2).assert_stderr("broken.jar");
    report(&folder.path().join("gone"))
        .assert_exit(2)
        .assert_stderr("gone");
}
