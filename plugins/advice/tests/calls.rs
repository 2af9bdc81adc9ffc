//! Tests the plugin with the rewriter's real views and rules.

use classhook_testkit::{Harness, Transformed, java};
use plugin_advice::AdviceCalls;

/// Encodes as Base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let three = [0, 1, 2].map(|at| u32::from(group.get(at).copied().unwrap_or(0)));
        let bits = three[0] << 16 | three[1] << 8 | three[2];
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place > group.len() {
                '='
            } else {
                char::from(letter)
            });
        }
    }
    text
}

/// Returns the class files of an advice, its guard and the calls between them.
fn helpers() -> String {
    let classes = [
        java! { "class Own { static long start() { return 1; } static void end(long start, Object returned) {} }" },
        java! { "class Call { static Object begin(Object target, Object[] arguments, String owner, String name, String descriptor) { return null; } }" },
        java! { "class Guard { static void drop(int call) {} static void open(int call) {} }" },
        java! { "class Calls { static void entry0(int call) {} static void exit1(Object returned, int call) {} static void exit2(Object self, int first) {} static int used(int x) { return x; } static Object used(Object x) { return x; } static long used(long x) { return x; } static Throwable used(Throwable x) { return x; } static boolean used() { return true; } static Object skipped() { return null; } static Object around(Object call, Object operand) { return null; } static void before(int line, Object self, Object field) {} static void after(Object returned, Object called) {} }" },
    ];
    let classes = classes.map(|bytes| format!("{:?}", base64(&bytes)));
    classes.join(", ")
}

fn hook(entry: bool, call: &str, descriptor: &str, more: &str) -> String {
    let when = if entry { "entry" } else { "exit" };
    at(when, call, descriptor, more)
}

/// Describes a method of the advice at a place.
fn at(when: &str, call: &str, descriptor: &str, more: &str) -> String {
    format!(
        "[[advice.hooks]]\nname = \"Own.{call}\"\nat = \"Own.java:4\"\nwhen = \"{when}\"\non-return = true\n\
         call = \"{call}\"\ndescriptor = \"{descriptor}\"\n{more}\n"
    )
}

fn settings(patterns: &str, hooks: &[String]) -> String {
    format!(
        "[[advice]]\nname = \"Own\"\nat = \"Own.java:2\"\nmethods = [{patterns}]\nclasses = [{}]\n{}",
        helpers(),
        hooks.concat()
    )
}

/// A pair of methods that gives a value from the entry to returns, and one for the object and an argument.
fn pair() -> [String; 2] {
    [
        hook(
            true,
            "entry0",
            "(I)V",
            "keyed = true\non-throw = true\nvalues = []",
        ),
        hook(
            false,
            "exit1",
            "(Ljava/lang/Object;I)V",
            "keyed = true\non-throw = false\nvalues = [{ value = \"returned\", argument = 0, type = \"Ljava/lang/Object;\" }]",
        ),
    ]
}

fn with_this() -> String {
    let values = "values = [{ value = \"this\", argument = 0, type = \"Ljava/lang/Object;\" }, { value = \"argument\", argument = 0, type = \"I\" }]";
    hook(
        false,
        "exit2",
        "(Ljava/lang/Object;I)V",
        &format!("keyed = false\non-throw = true\n{values}"),
    )
}

fn shop() -> Vec<u8> {
    java! { "class Shop { Shop(int x) {} long find(int x) { return x; } static void close(int x) {} void take(String x) {} int changed(int x) { x++; return x; } long moved(long x) { x = x + 1; return x; } }" }.to_vec()
}

fn transform(patterns: &str, hooks: &[String]) -> Transformed {
    Harness::<AdviceCalls>::new(&settings(patterns, hooks)).transform(&shop())
}

#[test]
fn pair_is_called_at_both_ends_and_dropped_where_no_advice_reads_it() {
    let transformed = transform("\"Shop#find\"", &pair());
    let text = transformed.to_string();
    for part in [
        "find(I)J entry",
        "entry0 (I)V",
        "java/lang/Long valueOf",
        "exit1 (Ljava/lang/Object;I)V",
        "find(I)J unwind",
        "drop (I)V",
        "calls Own.exit1 (Own.java:4) before it returns",
    ] {
        let words: Vec<&str> = part.split(' ').collect();
        let has = |line: &str| words.iter().all(|word| line.contains(word));
        assert!(
            text.lines().any(has) || text.contains(part),
            "{part}\n{text}"
        );
    }
    assert!(transformed.splice().len() > shop().len());
}

#[test]
fn star_leaves_constructors_out_and_a_pattern_excludes() {
    let text = transform("\"Shop#*\", \"!Shop#close\"", &pair()).to_string();
    assert!(text.contains("find(I)J") && text.contains("take"), "{text}");
    assert!(
        !text.contains("<init>") && !text.contains("close"),
        "{text}"
    );
    let text = transform("\"Shop#<init>\"", &pair()).to_string();
    assert!(text.contains("<init>(I)V"), "{text}");
}

#[test]
fn method_that_does_not_fit_is_left_out_with_the_reason() {
    let text = transform("\"Shop#*\"", &[with_this()]).to_string();
    assert!(text.contains("the method assigns argument 0"), "{text}");
    assert!(
        text.contains("@This has no value in a static method"),
        "{text}"
    );
    let reason = "@Argument(0) has the type int, and the value java.lang.String";
    assert!(text.contains(reason), "{text}");
    assert!(
        text.contains("calls Own.exit2 (Own.java:4) where an exception leaves it"),
        "{text}"
    );
}

#[test]
fn named_class_without_a_fitting_method_is_refused_with_the_place() {
    for (pattern, expected) in [
        (
            "\"Shop#fidn\"",
            "Own.java:2: Shop has no method for `Shop#fidn` with code of its own; nearest: find(I)J",
        ),
        (
            "\"Shop#close\"",
            "Own.java:4: Own.exit2 does not fit Shop.close(int): @This has no value in a static method",
        ),
    ] {
        let transformed = transform(pattern, &[with_this()]);
        let error = transformed.error().map(ToString::to_string);
        let error = error.unwrap_or_default();
        assert!(error.contains(expected), "{error}");
    }
    assert!(transform("\"*#fidn\"", &[with_this()]).error().is_none());
}

#[test]
fn supertypes_and_annotations_select_classes() {
    let class = java! { "@Deprecated class Named implements Runnable { public void run() {} }" };
    for (pattern, is_there) in [
        ("\"<:java.lang.Runnable#run\"", true),
        ("\"<:java.util.List#run\"", false),
        ("\"@java.lang.Deprecated#*\"", true),
        ("\"@java.lang.Override#*\"", false),
    ] {
        let transformed =
            Harness::<AdviceCalls>::new(&settings(pattern, &pair())).transform(&class);
        assert_eq!(
            transformed.to_string().contains("entry0"),
            is_there,
            "{pattern}"
        );
    }
}

#[test]
fn nonsense_is_refused_with_the_place() {
    for pattern in [
        "\"#find\"",
        "\"Shop#\"",
        "\"a b#c\"",
        "\"Shop\"",
        "\"Shop**\"",
    ] {
        let error = Harness::<AdviceCalls>::try_config(&settings(pattern, &pair()));
        let error = error.expect_err(pattern).to_string();
        assert!(error.contains("Own.java:2: the pattern `"), "{error}");
    }
}

#[test]
fn probes_are_put_into_the_own_methods_of_the_class_that_takes_rows_apart() {
    let class = java! { "class $Classhook$0123456789abcdef$ProbedRows { static void row0_a(Object sql, long nanos) {} static void count0_a() {} static void row0_b(Object other) {} }" };
    let probes = "[advice.probes]\ntables = [{ method = \"row0_a\", table = \"Slow\", columns = [\"sql\", \"nanos\"] }]\n\
                  counts = [{ method = \"count0_a\", name = \"slow\" }]\n";
    let settings = format!("{}{probes}", settings("\"Shop#find\"", &pair()));
    let text = Harness::<AdviceCalls>::new(&settings)
        .transform(&class)
        .to_string();
    for part in ["row0_a", "sql", "nanos", "count0_a", "Slow", "slow"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("row0_b"), "{text}");
}

/// A method of the advice whose result takes the place of a value.
fn with_effect(entry: bool, descriptor: &str, effect: &str, result: &str) -> String {
    let more = format!(
        "keyed = false\non-throw = {}\nvalues = []\neffect = \"{effect}\"\nresult = \"{result}\"",
        effect == "thrown"
    );
    let more = more.replace(
        "effect = \"thrown\"",
        "on-return = false\neffect = \"thrown\"",
    );
    let call = if effect == "skip-if-not-null" {
        "skipped"
    } else {
        "used"
    };
    let text = hook(entry, call, descriptor, &more);
    match effect {
        "thrown" => text.replacen("on-return = true\n", "", 1),
        _ => text,
    }
}

#[test]
fn results_of_advice_take_the_place_of_values() {
    let object = "Ljava/lang/Object;";
    for (entry, descriptor, effect, result, parts) in [
        (true, "(I)I", "argument", "I", "store argument 0"),
        (
            true,
            "(Ljava/lang/Object;)Ljava/lang/Object;",
            "argument",
            object,
            "intValue",
        ),
        (false, "(J)J", "returned", "J", "lload own 0"),
        (
            false,
            "(Ljava/lang/Object;)Ljava/lang/Object;",
            "returned",
            object,
            "longValue",
        ),
        (
            false,
            "(Ljava/lang/Throwable;)Ljava/lang/Throwable;",
            "thrown",
            "Ljava/lang/Exception;",
            "aload own 0",
        ),
        (true, "()Z", "skip-if-true", "Z", "lreturn"),
        (
            true,
            "()Ljava/lang/Object;",
            "skip-if-not-null",
            object,
            "longValue",
        ),
    ] {
        let hooks = [with_effect(entry, descriptor, effect, result)];
        let transformed = transform("\"Shop#find\"", &hooks);
        let text = transformed.to_string();
        assert!(text.contains(parts), "{effect}: {text}");
        assert!(transformed.error().is_none(), "{effect}");
    }
    for hooks in [
        [with_effect(
            false,
            "(Ljava/lang/Object;)Ljava/lang/Object;",
            "returned",
            "Ljava/lang/Integer;",
        )],
        [with_effect(
            true,
            "(Ljava/lang/Object;)Ljava/lang/Object;",
            "argument",
            "Ljava/lang/Integer;",
        )],
    ] {
        let text = transform("\"*#find\"", &hooks).to_string();
        assert!(text.contains("has the type java.lang.Integer"), "{text}");
    }
    let hooks = [with_effect(false, "(I)I", "returned", "I")];
    let text = transform("\"*#find\"", &hooks).to_string();
    let reason = "the result of the advice has the type int, and that of the method long";
    assert!(text.contains(reason), "{text}");
}

/// A class with calls of each kind.
fn caller() -> Vec<u8> {
    java! { "class Caller { private int size = 3; static String name; long run(String text, long more) { String part = text.concat(\"x\"); helper(part.length()); return Math.max(more, this.helper(1)); } private int helper(int x) { return x; } public String toString() { return super.toString(); } }" }.to_vec()
}

fn transform_calls(method: &str, hooks: &[String]) -> Transformed {
    Harness::<AdviceCalls>::new(&settings(&format!("\"Caller#{method}\""), hooks))
        .transform(&caller())
}

const NO_VALUES: &str = "keyed = false\non-throw = false\nvalues = []\n";

#[test]
fn advice_runs_before_behind_and_around_calls() {
    let before = "calls = [\"Caller#helper\"]\nkeyed = false\non-throw = false\nvalues = [{ value = \"line\", argument = 0, type = \"I\" }, { value = \"this\", argument = 0, type = \"Ljava/lang/Object;\" }, { value = \"field\", name = \"size\", argument = 0, type = \"Ljava/lang/Object;\" }]";
    let after = "calls = [\"java.lang.Math#max(JJ*\"]\nkeyed = false\non-throw = false\nvalues = [{ value = \"returned\", argument = 0, type = \"Ljava/lang/Object;\" }, { value = \"called\", argument = 0, type = \"Ljava/lang/Object;\" }]";
    let around = "calls = [\"java.lang.String#concat\", \"Caller#helper\", \"java.lang.Math#*\"]\nkeyed = false\non-throw = false\neffect = \"call\"\nresult = \"Ljava/lang/Object;\"\nvalues = [{ value = \"operand\", argument = 1, type = \"Ljava/lang/Object;\" }]";
    let hooks = [
        at(
            "before-call",
            "before",
            "(ILjava/lang/Object;Ljava/lang/Object;)V",
            before,
        ),
        at(
            "after-call",
            "after",
            "(Ljava/lang/Object;Ljava/lang/Object;)V",
            after,
        ),
        at(
            "around",
            "around",
            "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
            around,
        ),
    ];
    let transformed = transform_calls("run", &hooks);
    assert!(transformed.error().is_none(), "{:?}", transformed.error());
    let text = transformed.to_string();
    for part in [
        "calls Own.before (Own.java:4) before the call of Caller.helper(int)",
        "calls Own.after (Own.java:4) behind the call of java.lang.Math.max(long,long)",
        "calls Own.around (Own.java:4) around the call of java.lang.String.concat(java.lang.String)",
        "getfield Caller.size:I",
        "begin",
        "proceed",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(text.matches("around the call").count(), 4, "{text}");
    assert!(transformed.splice().len() > caller().len());
}

#[test]
fn advice_replaces_operands_and_results_and_skips_calls() {
    for (when, call, descriptor, calls, more, part) in [
        (
            "before-call",
            "used",
            "(J)J",
            "java.lang.Math#max",
            "effect = \"operand\"\nposition = 0\nresult = \"J\"",
            "store operand 0",
        ),
        (
            "before-call",
            "used",
            "(Ljava/lang/Object;)Ljava/lang/Object;",
            "java.lang.String#concat",
            "effect = \"operand\"\nposition = 1\nresult = \"Ljava/lang/String;\"",
            "store operand 1",
        ),
        (
            "after-call",
            "used",
            "(I)I",
            "Caller#helper",
            "effect = \"returned\"\nresult = \"I\"",
            "istore own 0",
        ),
        (
            "before-call",
            "used",
            "()Z",
            "java.lang.String#length",
            "effect = \"skip-if-true\"\nresult = \"Z\"",
            "ifeq",
        ),
        (
            "before-call",
            "skipped",
            "()Ljava/lang/Object;",
            "java.lang.String#concat",
            "effect = \"skip-if-not-null\"\nresult = \"Ljava/lang/String;\"",
            "ifnull",
        ),
        (
            "before-call",
            "skipped",
            "()Ljava/lang/Object;",
            "java.lang.Math#max",
            "effect = \"skip-if-not-null\"\nresult = \"Ljava/lang/Long;\"",
            "longValue",
        ),
    ] {
        let more = format!("calls = [\"{calls}\"]\n{NO_VALUES}{more}");
        let transformed = transform_calls("run", &[at(when, call, descriptor, &more)]);
        let text = transformed.to_string();
        assert!(
            text.contains(part),
            "{calls} {call}: {:?} {text}",
            transformed.error()
        );
        assert!(
            transformed.splice().len() > caller().len(),
            "{calls} {call}"
        );
    }
}

#[test]
fn advice_that_does_not_fit_a_call_is_refused_with_the_place() {
    let object = "Ljava/lang/Object;";
    for (when, calls, more, method, part) in [
        (
            "before-call",
            "java.lang.String#concat",
            "effect = \"operand\"\nposition = 0\nresult = \"Ljava/lang/String;\"",
            "run",
            "@ReplaceOperand(0): the object whose method is called stays",
        ),
        (
            "before-call",
            "java.lang.String#concat",
            "effect = \"operand\"\nposition = 2\nresult = \"Ljava/lang/String;\"",
            "run",
            "has 2 operands",
        ),
        (
            "after-call",
            "java.lang.Math#max",
            "effect = \"returned\"\nresult = \"I\"",
            "run",
            "the result of the advice has the type int, and that of the call long",
        ),
        (
            "around",
            "java.lang.Object#toString",
            "effect = \"call\"\nresult = \"Ljava/lang/Object;\"",
            "toString",
            "is a call of the superclass's method",
        ),
        (
            "around",
            "java.lang.Math#max",
            "effect = \"call\"",
            "run",
            "the method with @Around is void, and the call returns long",
        ),
        (
            "around",
            "java.lang.Math#min",
            "effect = \"call\"",
            "run",
            "Own.java:4: Own.used does not fit Caller.run(java.lang.String,long): the method has no call of `java.lang.Math#min`; it calls java.lang.String#concat",
        ),
    ] {
        let more = format!("calls = [\"{calls}\"]\n{NO_VALUES}{more}");
        let descriptor = format!("({object}){object}");
        let transformed = transform_calls(method, &[at(when, "used", &descriptor, &more)]);
        let text = format!("{:?} {transformed}", transformed.error());
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn several_values_go_from_the_entry_of_one_opened_call() {
    let keyed = "keyed = true\non-throw = false\nvalues = []";
    let read = format!("{keyed}\nreads = [\"Own.entry0\"]");
    let hooks = [
        hook(true, "entry0", "(I)V", keyed),
        hook(false, "exit1", "(I)V", &read),
    ];
    let text = settings("\"Shop#find\"", &hooks).replacen("at =", "opens = true\nat =", 1);
    let text = Harness::<AdviceCalls>::new(&text)
        .transform(&shop())
        .to_string();
    for part in ["open:(I)V", "entry0:(I)V", "exit1:(I)V", "drop:(I)V"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn fields_are_those_of_the_class() {
    let value = |name: &str| {
        let values = format!(
            "values = [{{ value = \"field\", name = \"{name}\", argument = 0, type = \"Ljava/lang/Object;\" }}]"
        );
        [hook(
            false,
            "used",
            "(Ljava/lang/Object;)V",
            &format!("keyed = false\non-throw = true\n{values}"),
        )]
    };
    let text = transform_calls("run", &value("size")).to_string();
    assert!(text.contains("getfield Caller.size:I"), "{text}");
    let text = transform_calls("run", &value("name")).to_string();
    assert!(text.contains("getstatic Caller.name"), "{text}");
    let error = transform_calls("run", &value("other"));
    let error = error.error().map(ToString::to_string).unwrap_or_default();
    assert!(
        error.contains("@Field(\"other\"): Caller declares no such field; it has size, name"),
        "{error}"
    );
}
