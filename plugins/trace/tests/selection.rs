//! Tests the plugin with the rewriter's real views and rules.

use classhook_testkit::Harness;
use plugin_trace::Trace;

const TRACED: &[u8] = include_bytes!("Traced.class");

/// Returns the methods with a span, a count or a note, one per line.
fn plan(config: &str) -> String {
    Harness::<Trace>::new(config).transform(TRACED).to_string()
}

/// Returns the names of the methods with an edit or a note.
fn methods(config: &str) -> Vec<String> {
    let names = plan(config);
    let names = names
        .lines()
        .map(|line| line.split('(').next().unwrap_or_default().to_owned());
    names.collect()
}

#[test]
fn without_settings_every_method_of_the_source_is_a_span() {
    Harness::<Trace>::default()
        .transform(TRACED)
        .assert_plan_file("tests/Traced.plan");
}

#[test]
fn patterns_choose_by_class_name_and_descriptor() {
    assert_eq!(methods("methods = ['Traced.find']"), ["find", "find"]);
    assert_eq!(methods("methods = ['Traced.value(I*']"), ["value"]);
    assert_eq!(methods("methods = ['Tra*.v*', '!value(*)V']"), ["value"]);
    assert_eq!(methods("methods = ['Other.find']"), [""; 0]);
    assert_eq!(methods("methods = ['<*init>']"), ["<init>", "<clinit>"]);
}

#[test]
fn annotations_choose_methods() {
    assert_eq!(
        methods("annotated = ['java.lang.Deprecated']"),
        ["<init>", "find"]
    );
    assert_eq!(
        methods("annotated = ['**.Deprecated']\nmethods = ['!find']"),
        ["<init>"]
    );
    assert_eq!(
        methods("annotated = ['java.lang.Override']"),
        [""; 0],
        "it is not in class files"
    );
}

#[test]
fn capture_follows_the_settings() {
    let found =
        plan("methods = ['find(Ljava*']\ncapture = ['arguments', 'returned', 'thrown']\nlimit = 9");
    assert_eq!(
        found,
        "find(Ljava/lang/String;[ID)J: span 0 arguments returned thrown limit 9\n"
    );
    let found = plan("methods = ['find(Ljava*']\nmode = 'aggregate'");
    assert_eq!(found, "find(Ljava/lang/String;[ID)J: span 0 summed up\n");
    let found = plan("methods = ['find(Ljava*', 'get()L*String;']\nmode = 'count'");
    assert_eq!(
        found,
        "get()Ljava/lang/String; entry: count 0\nfind(Ljava/lang/String;[ID)J entry: count 1\n"
    );
}

#[test]
fn native_methods_are_spans_and_summed_up_where_others_are_counted() {
    assert_eq!(
        plan("methods = ['find(J*']"),
        "find(J)J: span 0 thrown limit 80\n"
    );
    assert_eq!(
        plan("methods = ['find']\nmode = 'count'"),
        "find(J)J: span 0 summed up\nfind(Ljava/lang/String;[ID)J entry: count 0\n"
    );
}

#[test]
fn each_kind_of_method_can_be_left_out() {
    let all = methods("skip = []");
    let left_out = |kind: &str| {
        let mut rest = methods(&format!("skip = ['{kind}']"));
        let mut left_out = all.clone();
        left_out.retain(|name| match rest.iter().position(|other| other == name) {
            Some(at) => {
                rest.remove(at);
                false
            }
            None => true,
        });
        left_out
    };
    assert_eq!(left_out("constructors"), ["<init>"]);
    assert_eq!(left_out("static-initialisers"), ["<clinit>"]);
    assert_eq!(left_out("synthetic"), ["access$000"]);
    assert_eq!(left_out("bridges"), ["get"]);
    assert_eq!(left_out("lambdas"), ["lambda$get$0"]);
    assert_eq!(left_out("accessors"), ["value", "value", "numbers"]);
}

#[test]
fn only_classes_that_can_match_are_selected() {
    use classhook_sdk::Transformer;
    let select = |config: &str| {
        let plugin: Trace = classhook_sdk::guest::parse(config).unwrap();
        plugin.select()
    };
    assert_eq!(select("{}"), [""; 0]);
    assert_eq!(
        select(r#"{"methods": ["com.acme.**", "a.B.f(I*", "!a.C.*", "!g"]}"#),
        ["com.acme.**", "com.acme", "a.B", "!a.C"]
    );
    assert_eq!(
        select(r#"{"methods": ["com.acme.**", "!a.C.*"], "annotated": ["a.A"]}"#),
        ["!a.C"]
    );
}

#[test]
fn invalid_settings_are_rejected() {
    for (config, part) in [
        ("methods = ['a.***']", "more than two"),
        ("annotated = ['@a.B']", "is not an annotation"),
        (
            "mode = 'sum'",
            "unknown variant `sum`, expected one of `events`, `aggregate`, `count`",
        ),
        (
            "mode = 'count'\ncapture = []",
            "belong to `mode = \"events\"`",
        ),
        ("limit = 0", "expected 1 to 1024 bytes"),
        ("skip = ['getters']", "unknown variant `getters`"),
        ("method = ['a']", "unknown field `method`"),
    ] {
        let error = Harness::<Trace>::try_config(config)
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{config}: {error}");
    }
}

fn line_of(text: &str) -> usize {
    let source = include_str!("Traced.java");
    let at = source.lines().position(|line| line.contains(text));
    at.expect("such a line") + 1
}

#[test]
fn lines_are_events_where_their_code_begins() {
    let lambda = line_of("Supplier<String> lambda =");
    let found = plan(&format!("at = ['Traced.java:{lambda}']\nlimit = 9"));
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 2, "the method and the lambda: {found}");
    assert!(lines[0].starts_with("get()Ljava/lang/String; "), "{found}");
    assert!(
        lines
            .iter()
            .all(|line| line.contains("event") && line.contains("limit 9")),
        "{found}"
    );
    for place in ["Traced.get", "Traced.*", "src/main/java/Traced.java"] {
        let found = plan(&format!("at = ['{place}:{lambda}']"));
        assert!(found.contains("event"), "{place}: {found}");
    }
    for place in ["Other.java", "com/acme/Other.java", "Traced.find"] {
        let found = plan(&format!("at = ['{place}:{lambda}']"));
        assert!(!found.contains("event"), "{place}: {found}");
    }
}

#[test]
fn line_without_code_is_noted_with_its_neighbours() {
    let annotation = line_of("@Override");
    let found = plan(&format!("at = ['Traced.java:{annotation}']"));
    let (below, above) = (
        line_of("return NUMBERS;"),
        line_of("Supplier<String> lambda ="),
    );
    let expected = format!(
        "Traced.java:{annotation} has no code here; the nearest lines with code are {below} and {above}"
    );
    assert!(found.contains(&expected), "{found}");
}

#[test]
fn writes_are_events_at_their_instructions() {
    let found = plan("fields = ['Traced.value']");
    let methods: Vec<&str> = found
        .lines()
        .map(|line| line.split(' ').next().unwrap_or_default())
        .collect();
    assert_eq!(methods, ["<init>(I)V", "value(I)V"], "{found}");
    assert!(plan("fields = ['Traced.NUM*']").starts_with("<clinit>()V "));
    assert_eq!(
        plan("fields = ['Other.value']"),
        "",
        "the class has a field of this name itself"
    );
    for wrong in [
        "at = ['Traced.java']",
        "fields = ['value']",
        "fields = ['a.b']\nat = ['A.java:1']",
        "fields = ['a.b']\nmethods = ['a.b']",
    ] {
        let refused = std::panic::catch_unwind(|| plan(wrong));
        assert!(refused.is_err(), "{wrong}");
    }
}

#[test]
fn tasks_are_followed_between_named_methods() {
    use classhook_sdk::Transformer;
    let plugin = |config: &str| -> Result<Trace, String> {
        let settings = classhook_sdk::guest::parse::<Trace>(config);
        settings.map_err(|error| error.to_string())
    };
    let following = plugin(r#"{"methods": ["a.B.*"], "follow": true}"#).unwrap();
    let selected = following.select();
    assert_eq!(selected[0], "a.B");
    for class in ["ThreadPoolExecutor", "ForkJoinTask", "CompletableFuture"] {
        let name = format!("java.util.concurrent.{class}");
        assert!(selected.contains(&name), "{selected:?}");
    }
    for wrong in [
        r#"{"follow": true}"#,
        r#"{"follow": true, "methods": ["!a.B.*"]}"#,
        r#"{"follow": true, "methods": ["a.B.*"], "mode": "count"}"#,
        r#"{"follow": true, "at": ["A.java:1"]}"#,
    ] {
        assert!(plugin(wrong).is_err(), "{wrong}");
    }
    // The test's class is not one of the JDK's classes with tasks.
    assert_eq!(
        methods("methods = ['Traced.value(I*']\nfollow = true"),
        ["value"]
    );
}
