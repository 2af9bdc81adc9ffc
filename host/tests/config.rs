//! `classhook.toml` and agent options: their meaning, and the messages for errors in them.

#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/pace.rs"]
mod pace;

use compiler::compiler;
use pace::cpu_time;
use std::path::Path;

use errors::Error;
use host::Config;
use host::config::{LogLevel, OPTIONS_HELP, OnError, PluginSource, WhenFull};

fn load(text: &str) -> Result<Config, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("classhook.toml");
    std::fs::write(&path, text).unwrap();
    Config::load(&path)
}

/// Returns the error without the folder of the file.
fn mistake(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("classhook.toml");
    std::fs::write(&path, text).unwrap();
    let error = Config::load(&path).unwrap_err().to_string();
    error.replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn every_key_arrives() {
    let digest = "ab".repeat(32);
    let config = load(&format!(
        r#"
        [agent]
        output = "out"
        on-error = "strict"
        log = "debug"
        run = "nightly"

        [[plugin]]
        use = "coverage"
        select = ["com.acme.**", "!com.acme.gen.**"]

        [[plugin]]
        use = "tools/trace.wasm"
        digest = "sha256:{digest}"
        grant = ["probes", "boot"]
        [plugin.config]
        limit = 3
        when = 2026-01-02
        nested = {{ a = [true, 1.5] }}
        "#
    ))
    .unwrap();
    let folder = config.source.as_ref().unwrap().parent().unwrap();
    assert_eq!(config.agent.output, folder.join("out"));
    assert_eq!(
        (config.agent.on_error, config.agent.log),
        (OnError::Strict, LogLevel::Debug)
    );
    assert_eq!(config.agent.run.as_deref(), Some("nightly"));
    let [coverage, trace] = config.plugins.as_slice() else {
        panic!("{config:?}")
    };
    assert_eq!(
        (coverage.name.as_str(), &coverage.source),
        ("coverage", &PluginSource::Bundled("coverage".into()))
    );
    assert_eq!(
        coverage.grant,
        ["probes"],
        "a bundled plugin is granted what it needs"
    );
    assert_eq!(coverage.select, ["com.acme.**", "!com.acme.gen.**"]);
    assert_eq!(
        trace.source,
        PluginSource::File(folder.join("tools/trace.wasm"))
    );
    assert_eq!(
        (
            trace.name.as_str(),
            trace.digest.as_deref(),
            trace.grant_line
        ),
        ("trace", Some(digest.as_str()), Some(15))
    );
    let expected =
        serde_json::json!({ "limit": 3, "when": "2026-01-02", "nested": { "a": [true, 1.5] } });
    assert_eq!(trace.config, expected);
}

#[test]
fn an_empty_file_and_empty_options_mean_coverage_of_the_application() {
    let file = load("").unwrap();
    assert_eq!(file.plugins, Config::default().plugins);
    assert_eq!(Config::from_options("").unwrap(), Config::default());
    let [coverage] = file.plugins.as_slice() else {
        panic!("{file:?}")
    };
    assert!(coverage.select.is_empty());
    assert_eq!(file.agent.output, Path::new("classhook"));
}

#[test]
fn event_files_may_have_a_limit() {
    let agent = |options: &str| Config::from_options(options).unwrap().agent;
    assert_eq!((agent("").max_size, agent("").when_full), (None, None));
    let limited = agent("max-size=9M,when-full=stop");
    assert_eq!(limited.max_size, Some(9 << 20));
    assert_eq!(limited.when_full, Some(WhenFull::Stop));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("classhook.toml");
    std::fs::write(&file, "[agent]\nmax-size = \"1G\"\n").unwrap();
    let limited = agent(&format!("config={},when-full=drop-oldest", file.display()));
    assert_eq!(limited.max_size, Some(1 << 30));
    assert_eq!(limited.when_full, Some(WhenFull::DropOldest));
    for (options, part) in [
        ("when-full=stop", "`max-size` together with `when-full`"),
        (
            "max-size=9M,when-full=halt",
            "expected `drop-oldest` or `stop`",
        ),
        ("max-size=9", "at least `8M`"),
    ] {
        let error = Config::from_options(options).unwrap_err().to_string();
        assert!(error.contains("H0105") && error.contains(part), "{error}");
    }
    std::fs::write(&file, "[agent]\n\nmax-size = \"1\"\n").unwrap();
    let error = Config::load(&file).unwrap_err().to_string();
    assert!(error.contains("classhook.toml:3"), "{error}");
}

#[test]
fn jacocos_tools_connect_locally_unless_remote_access_is_permitted() {
    let address = |options: &str| {
        let config = Config::from_options(options);
        config.map(|config| config.agent.jacoco_tcp.map(|address| address.to_string()))
    };
    assert_eq!(address("").unwrap(), None);
    let local = Some("127.0.0.1:6300".to_owned());
    assert_eq!(address("jacoco-tcp=6300").unwrap(), local);
    let refused = address("jacoco-tcp=0.0.0.0:6300").unwrap_err().to_string();
    for part in ["H0105", "without authentication", "jacoco-tcp-remote=on"] {
        assert!(refused.contains(part), "{refused}");
    }
    let open = address("jacoco-tcp=0.0.0.0:6300,jacoco-tcp-remote=on").unwrap();
    assert_eq!(open.as_deref(), Some("0.0.0.0:6300"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("classhook.toml");
    std::fs::write(&file, "[agent]\njacoco-tcp = \"6300\"\n").unwrap();
    let config = format!("config={}", file.display());
    assert_eq!(address(&config).unwrap(), local);
    std::fs::write(&file, "[agent]\njacoco-tcp = \"[::]:6300\"\n").unwrap();
    let refused = address(&config).unwrap_err().to_string();
    assert!(refused.contains("classhook.toml:2"), "{refused}");
}

#[test]
fn errors_in_a_file_have_place_and_explanation() {
    for (text, expected) in [
        (
            "[agent]\noutptu = \"x\"\n",
            "error[H0104]: unknown key `outptu`\n  expected `output`, `file-name`, `on-error`, `log`, `run`, `max-size`, `when-full`, `waits`, `control`, `self-check`, `plan-cache`, `compile-huge`, `hits`, `self-remove`, `per-loader`, `before-agents`, `jacoco-tcp` or `jacoco-tcp-remote`\n  help     did you mean `output`?\n  \
             at       classhook.toml:2\n  found    outptu = \"x\"",
        ),
        (
            "\n[agent]\non-error = \"strikt\"\n",
            "error[H0105]: `on-error` cannot be `strikt`\n  expected `warn` or `strict`\n  help     did you mean `strict`?\n  \
             at       classhook.toml:3\n  found    on-error = \"strikt\"",
        ),
        (
            "[[plugin]]\nuse = \"coverag\"\n",
            "error[H0105]: `coverag` is neither a bundled plugin nor in classhook.lock\n  expected `advice`, `coverage`, `patch` or `trace`, a path that ends in .wasm, or a plugin that was added\n  help     `classhook plugin add` adds a file, a URL or a reference in a registry to the project\n  \
             at       classhook.toml:2\n  found    use = \"coverag\"",
        ),
        (
            "[[plugin]]\nuse = \"coverage\"\ngrant = [\"probe\"]\n",
            "error[H0201]: unknown capability `probe`\n  expected `probes`, `rewrite`, `structure`, `raw`, `helpers`, `boot`, `natives`, `jvm-events.samples`, `jvm-events.allocations`, `jvm-events.monitors`, `jvm-events.exceptions`, `jvm-events.collections`, `jvm-events.threads`, `jvm-events.classes`, `jvm-events.compilations`, `jvm-events.natives`, `jvm-events.exhaustion`, `jvm-events.catches`, `jvm-events.unloads`, `jvm-events.frees`, `jvm-events.dumps`, `jvm-events.stubs`, `jvm-requests.threads`, `jvm-requests.cpu-times`, `jvm-requests.histogram`, `jvm-requests.properties`, `jvm-requests.stack`, `jvm-requests.monitors`, `jvm-requests.paths` or `jvm-requests.monitor-usage`\n  help     did you mean `probes`?\n  \
             at       classhook.toml:3\n  found    grant = [\"probe\"]",
        ),
        (
            "[[plugin]]\nuse = \"coverage\"\nselect = [\n  \"com.***\",\n]\n",
            "error[H0110]: selector `com.***` has more than two `*` in a row\n  \
             expected a name such as `com.acme.**`, `@annotation`, `<:supertype`, `source:Orders.java`, `loader:app`, `location:target/classes`; `!` in front excludes\n  \
             at       classhook.toml:4\n  found    \"com.***\",",
        ),
    ] {
        assert_eq!(mistake(text), expected);
    }
}

#[test]
fn advice_is_a_plugin_with_the_configuration_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("advice.json");
    let option = format!("advice={}", file.display());
    let refused = |options: &str| Config::from_options(options).unwrap_err().to_string();
    assert!(refused(&option).contains("H0102"));
    std::fs::write(&file, "[]").unwrap();
    assert!(refused(&option).contains("is not a JSON object"));
    std::fs::write(&file, r#"{"advice": []}"#).unwrap();
    let names = |options: &str| -> Vec<String> {
        let config = Config::from_options(options).unwrap();
        config.plugins.into_iter().map(|it| it.name).collect()
    };
    assert_eq!(names(&option), ["advice"]);
    assert_eq!(
        names(&format!("{option},plugin=coverage")),
        ["coverage", "advice"]
    );
    assert!(refused(&format!("{option},plugin=advice")).contains("two plugins"));
    let more = format!("{option},plugin=trace,settings={{}},select=a.B,grant=boot");
    let config = Config::from_options(&more).unwrap();
    let advice = config.plugins.last().unwrap();
    assert!(advice.config["advice"].is_array());
    assert_eq!(advice.grant, ["helpers", "probes", "rewrite", "boot"]);
    assert_eq!(advice.select, ["a.B"]);
}

#[test]
fn other_errors_have_their_code_and_line() {
    for (text, code, part) in [
        ("[agent\n", "H0103", "classhook.toml:1"),
        ("[agent]\noutput = 3\n", "H0105", "classhook.toml:2"),
        ("[agent]\noutput = \"\"\n", "H0105", "cannot be empty"),
        ("[[plugin]]\ngrant = []\n", "H0105", "missing field `use`"),
        (
            "[[plugin]]\nuse = \"coverage\"\ndigest = \"md5:1\"\n",
            "H0105",
            "64 hexadecimal digits",
        ),
        (
            "[[plugin]]\nuse = \"coverage\"\n[[plugin]]\nuse = \"coverage\"\n",
            "H0105",
            "two plugins have the name `coverage`",
        ),
        ("agents = 1\n", "H0104", "did you mean `agent`?"),
    ] {
        let error = mistake(text);
        assert!(
            error.starts_with(&format!("error[{code}]")) && error.contains(part),
            "{text:?}: {error}"
        );
    }
    let missing = Config::load(Path::new("/no/such/classhook.toml")).unwrap_err();
    assert_eq!(missing.code(), "H0102");
}

#[test]
fn options_override_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a,b.toml");
    std::fs::write(&path, "[agent]\noutput = \"a\"\nlog = \"off\"\n[[plugin]]\nuse = \"coverage\"\nselect = [\"a.**\"]\n").unwrap();
    let path = path
        .display()
        .to_string()
        .replace('\\', "\\\\")
        .replace(',', "\\,");
    let config =
        Config::from_options(&format!("output=x\\,y,config={path},run=7,on-error=strict")).unwrap();
    assert_eq!(
        (config.agent.output.to_str(), config.agent.run.as_deref()),
        (Some("x,y"), Some("7"))
    );
    assert_eq!(
        (config.agent.log, config.agent.on_error),
        (LogLevel::Off, OnError::Strict)
    );
    assert_eq!(config.plugins[0].select, ["a.**"]);
    let config = Config::from_options(&format!(
        "config={path},select=b.**;!b.c.**,select=loader:app"
    ))
    .unwrap();
    assert_eq!(
        config.plugins[0].select,
        ["b.**", "!b.c.**", "loader:app"],
        "without plugin=, for all"
    );
    let config = Config::from_options(&format!(
        "config={path},plugin=t.wasm,select=b.**,grant=probes"
    ))
    .unwrap();
    assert_eq!(config.plugins[0].select, ["a.**"]);
    assert_eq!(
        (
            config.plugins[1].name.as_str(),
            config.plugins[1].select.as_slice()
        ),
        ("t", &["b.**".to_owned()][..])
    );
    assert_eq!(config.plugins[1].grant, ["probes"]);
}

#[test]
fn a_plugin_named_in_the_options_replaces_the_default_one() {
    let config = Config::from_options("plugin=./t.wasm").unwrap();
    let [plugin] = config.plugins.as_slice() else {
        panic!("{config:?}")
    };
    assert_eq!(plugin.name, "t");
    assert!(plugin.grant.is_empty(), "nothing is granted unasked");
}

#[test]
fn settings_are_for_the_plugins_named_beside_them() {
    let config = Config::from_options(r#"plugin=trace,settings={"limit":9\,"mode":"count"}"#);
    let config = config.unwrap().plugins[0].config.clone();
    assert_eq!(config, serde_json::json!({"limit": 9, "mode": "count"}));
}

#[test]
fn errors_in_options_are_explained() {
    for (options, code, part) in [
        ("outptu=x", "H0113", "did you mean `output`?"),
        ("nonsense", "H0113", "unknown agent option `nonsense`"),
        ("output", "H0114", "has no value"),
        ("output=", "H0114", "has no value"),
        ("output=a\\b", "H0114", "invalid escape"),
        ("log=loud", "H0105", "`off`, `error`, `warn`"),
        (
            "grant=everything",
            "H0201",
            "`probes`, `rewrite`, `structure`, `raw`, `helpers`, `boot`, `natives`, `jvm-events.samples`, `jvm-events.allocations`, `jvm-events.monitors`, `jvm-events.exceptions`, `jvm-events.collections`, `jvm-events.threads`, `jvm-events.classes`, `jvm-events.compilations`, `jvm-events.natives`, `jvm-events.exhaustion`, `jvm-events.catches`, `jvm-events.unloads`, `jvm-events.frees`, `jvm-events.dumps`, `jvm-events.stubs`, `jvm-requests.threads`, `jvm-requests.cpu-times`, `jvm-requests.histogram`, `jvm-requests.properties`, `jvm-requests.stack`, `jvm-requests.monitors`, `jvm-requests.paths` or `jvm-requests.monitor-usage`",
        ),
        ("select=a***", "H0110", "more than two"),
        ("plugin=nothing", "H0105", "neither a bundled plugin"),
        (
            "plugin=coverage,plugin=coverage",
            "H0105",
            "two plugins have the name `coverage`",
        ),
        ("settings=[1]", "H0105", "is not a JSON object"),
        ("settings={a}", "H0105", "is not a JSON object"),
        ("config=/no/such/file", "H0102", "/no/such/file"),
    ] {
        let error = Config::from_options(options).unwrap_err();
        assert_eq!(error.code(), code, "{options}: {error}");
        assert!(error.to_string().contains(part), "{options}: {error}");
    }
}

#[test]
fn help_is_an_option_and_lists_every_key() {
    assert!(Config::from_options("help").unwrap().help);
    assert!(Config::from_options("output=x,help").unwrap().help);
    for key in [
        "config=",
        "output=",
        "plugin=",
        "select=",
        "grant=",
        "settings=",
        "on-error=",
        "run=",
        "log=",
        "help ",
    ] {
        assert!(OPTIONS_HELP.contains(&format!("\n  {key}")), "{key}");
    }
}

#[test]
fn each_value_of_a_plugins_table_is_known_by_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("classhook.toml");
    let text = "[[plugin]]\nuse = 'coverage'\n[[plugin]]\nuse = 'patch'\n[[plugin.config.rule]]\n\
        method = 'a.B.c'\nwhat = 'return'\n[[plugin.config.rule]]\nwhat = { dealy = 5 }\n";
    std::fs::write(&file, text).unwrap();
    let config = Config::load(&file).unwrap();
    assert!(config.plugins[0].config_lines.is_empty());
    let lines = &config.plugins[1].config_lines;
    for (path, line) in [
        ("rule[0].method", 6),
        ("rule[1].what", 9),
        ("rule[1].what.dealy", 9),
    ] {
        assert!(
            lines.contains(&(path.to_owned(), line)),
            "{path}: {lines:?}"
        );
    }
    let error = host::Pipeline::new(&config, &compiler())
        .expect_err("refused")
        .to_string();
    assert!(
        error.contains("H0111") && error.contains("classhook.toml:9"),
        "{error}"
    );
    assert!(error.contains("did you mean `delay`?"), "{error}");
}

#[test]
fn misspelled_setting_is_reported_with_file_line_and_the_closest_key() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let component = root.join("../target/bundled/tests/requests.wasm");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("classhook.toml");
    let grant = "['probes', 'rewrite', 'structure', 'raw', 'helpers']";
    let text = format!(
        "[[plugin]]\nuse = {component:?}\ngrant = {grant}\n[plugin.config]\nreqeust = 'hits'\n"
    );
    std::fs::write(&file, text).unwrap();
    let config = Config::load(&file).unwrap();
    let refused = host::Pipeline::new(&config, &compiler()).expect_err("refused");
    assert_eq!(refused.code(), "H0111");
    let told = refused.to_string();
    for part in ["classhook.toml:5", "unknown field `reqeust`", "`request`"] {
        assert!(told.contains(part), "expected {part} in {told}");
    }
}

#[test]
fn grants_of_a_bundled_plugin_add_to_the_needed_ones() {
    let grant = |config: &Config| config.plugins[0].grant.join(" ");
    let file = |lines: &str| load(&format!("[[plugin]]\n{lines}")).unwrap();
    assert_eq!(
        grant(&file("use = 'trace'\ngrant = ['boot']")),
        "probes natives boot"
    );
    assert_eq!(
        grant(&file("use = 'trace'\ngrant = ['!natives']")),
        "probes"
    );
    assert_eq!(grant(&file("use = 'a.wasm'\ngrant = ['boot']")), "boot");
    let options = |text| Config::from_options(text).unwrap();
    assert_eq!(
        grant(&options("plugin=patch,grant=boot;probes")),
        "rewrite boot probes"
    );
    assert_eq!(grant(&options("plugin=a.wasm,grant=probes")), "probes");
}

/// One pass over the text finds the lines of all keys, so the work grows with their number and not with its square.
#[test]
fn work_for_keys_grows_with_their_number() {
    let read = |keys: usize| {
        let mut text = "[[plugin]]\nuse = \"coverage\"\n[plugin.config]\n".to_owned();
        (0..keys).for_each(|key| text.push_str(&format!("key{key} = {key}\n")));
        let begun = cpu_time();
        let config = load(&text).unwrap();
        let spent = cpu_time() - begun;
        let last = (format!("key{}", keys - 1), keys + 3);
        assert!(config.plugins[0].config_lines.contains(&last));
        spent
    };
    let few = (0..5).map(|_| read(400)).min().unwrap();
    let many = read(40_000);
    assert!(many < few * 500, "{few:?} for 400, {many:?} for 40,000");
}

#[test]
fn place_of_a_plugin_is_a_number() {
    let file = |order: &str| load(&format!("[[plugin]]\nuse = 'trace'\norder = {order}\n"));
    assert_eq!(file("-7").unwrap().plugins[0].order, Some(-7));
    let options = |text| Config::from_options(text).unwrap();
    let config = options("plugin=trace,plugin=patch,order=12");
    assert!(config.plugins.iter().all(|plugin| plugin.order == Some(12)));
    assert_eq!(options("plugin=trace").plugins[0].order, None);
    for wrong in ["1001", "'outermost'", "1.5"] {
        let error = file(wrong).unwrap_err().to_string();
        assert!(error.contains("H0105") && error.contains(":3"), "{error}");
    }
    let error = Config::from_options("plugin=trace,order=x").unwrap_err();
    assert_eq!(error.code(), "H0105");
}
