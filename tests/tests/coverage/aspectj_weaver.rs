//! AspectJ's load-time weaver, which changes classes before our agent receives them.

use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::workspace::classhook;
use e2e_tests::{artifacts, javac, scratch};
use jacoco_files::XmlReport;
use std::path::{Path, PathBuf};

const SHOP: &str = "package shop;
public class Shop {
    int sell(int pieces) {
        if (pieces > 3) {
            return pieces - 1;
        }
        return pieces;
    }
    public static void main(String[] arguments) {
        Shop shop = new Shop();
        System.out.println(shop.sell(1) + shop.sell(5));
        System.out.println(\"audited: \" + Audit.calls);
    }
}
";

const AUDIT: &str = "package shop;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
@Aspect
public class Audit {
    static int calls;
    @Before(\"execution(int shop.Shop.*(..))\")
    public void note() {
        calls++;
    }
}
";

const WEAVER: &str = "<aspectj><aspects><aspect name=\"shop.Audit\"/></aspects>
<weaver><include within=\"shop..*\"/></weaver></aspectj>
";

/// Compiles the program with its aspect, which is woven at load time.
fn woven(jdk: &Jdk, folder: &Path) -> PathBuf {
    for (name, text) in [("Shop.java", SHOP), ("Audit.java", AUDIT)] {
        std::fs::write(folder.join(name), text).expect("written");
    }
    let weaver = artifacts::path("aspectjweaver");
    let weaver = weaver.to_str().expect("a path of text");
    let sources = ["Shop.java", "Audit.java"].map(|name| folder.join(name));
    let sources = [sources[0].as_path(), &sources[1]];
    let options = ["-g", "--release", "17", "-cp", weaver];
    let classes = javac::compile(jdk, &sources, folder, &options);
    let configuration = classes.join("META-INF");
    std::fs::create_dir_all(&configuration).expect("the test's folder");
    std::fs::write(configuration.join("aop.xml"), WEAVER).expect("written");
    classes
}

/// Runs the program under `coverage` with the weaver.
fn covered(jdk: &Jdk, folder: &Path, classes: &Path, options: &[&str]) -> Run {
    let weaver = artifacts::path("aspectjweaver");
    let command = Java::program(classhook()).folder(folder);
    command
        .argument("coverage")
        .arguments(options)
        .arguments(&["--xml", "all.xml", "--classes"])
        .argument(classes)
        .argument("--")
        .argument(jdk.tool("java"))
        .argument(format!("-javaagent:{}", weaver.display()))
        .argument("-cp")
        .argument(classes)
        .argument("shop.Shop")
        .run()
}

#[test]
fn classes_that_aspectj_weaves_are_measured_in_their_original_form() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let folder = folder.path();
        let classes = woven(&jdk, folder);
        for options in [&["--before-agents"][..], &[]] {
            let run = covered(&jdk, folder, &classes, options);
            let printed = "5\naudited: 2\n";
            assert!(run.stdout.starts_with(printed), "{}", run.report());
            let report = XmlReport::read(&folder.join("all.xml"));
            let lines = report.values("/package shop/class shop/Shop/counter LINE");
            let is_before = !options.is_empty();
            let expected = match is_before {
                true => "covered=8 missed=0",
                false => "covered=0 missed=8",
            };
            assert_eq!(lines, Some(expected), "{options:?}: {}", run.report());
            // The woven class is another version than the compiler's file.
            let warned = run.stderr.contains("warning[H0622]");
            assert_eq!(warned, !is_before, "{}", run.report());
        }
    }
}
