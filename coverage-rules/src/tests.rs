//! Parsing of rule files, and the display of mistakes at their positions.

use coverage::model::CounterKind;

use super::rule::{Element, Names, Rule, Value};

fn read(text: &str) -> Result<Vec<Rule>, String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    super::read(file.path()).map_err(|problem| problem.to_string())
}

const JACOCO: &str = "
<rule implementation=\"org.jacoco.maven.RuleConfiguration\">
  <element>CLASS</element>
  <includes><include>com.acme.*</include><include>a:b</include></includes>
  <excludes><exclude>*Test</exclude></excludes>
  <limits>
    <limit><minimum>${least}</minimum></limit>
    <limit><counter>CLASS</counter><value>MISSEDCOUNT</value><maximum>0</maximum></limit>
  </limits>
</rule>";

#[test]
fn jacoco_rules_are_read_alone_and_from_a_pom() {
    let alone = format!(
        "<?xml version=\"1.0\"?>\n<rules>{}</rules>",
        JACOCO.replace("${least}", "80%")
    );
    let plugin = |id: &str, rules: &str| {
        format!(
            "<plugin><artifactId>{id}</artifactId><executions><execution><goals><goal>check</goal></goals><configuration><rules>{rules}</rules></configuration></execution></executions></plugin>"
        )
    };
    let pom = format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><properties><least>${{all}}</least><all>0.80</all></properties>\
         <build><plugins>{}{}</plugins></build></project>",
        plugin("other", "<nothing/>"),
        plugin("jacoco-maven-plugin", JACOCO)
    );
    for text in [alone, pom] {
        let rules = read(&text).unwrap();
        assert_eq!(rules.len(), 1);
        let rule = &rules[0];
        assert_eq!(rule.element, Element::Class);
        let Names::Wildcards { include, exclude } = &rule.names else {
            panic!("{rule:?}")
        };
        assert_eq!(
            (include.as_slice(), exclude.as_slice()),
            (
                ["com.acme.*", "a", "b"].map(str::to_owned).as_slice(),
                ["*Test".to_owned()].as_slice()
            )
        );
        let [first, second] = rule.limits.as_slice() else {
            panic!("{rule:?}")
        };
        assert_eq!(
            (first.counter, first.value),
            (CounterKind::Instruction, Value::CoveredRatio)
        );
        assert_eq!(first.minimum.as_ref().unwrap().to_string(), "0.80");
        assert_eq!(
            (second.counter, second.value),
            (CounterKind::Class, Value::MissedCount)
        );
        assert_eq!(second.maximum.as_ref().unwrap().to_string(), "0");
    }
}

#[test]
fn toml_rules_equal_jacocos() {
    let rules = read(
        "[[rule]]\nlimit = [{ counter = \"branch\", minimum = 0.700 }]\n\n\
         [[rule]]\nelement = \"source-file\"\ninclude = [\"com/acme/**\"]\nexclude = [\"**/*Test.java\"]\n\
         [[rule.limit]]\ncounter = \"line\"\nvalue = \"missed-count\"\nmaximum = 1_0\n",
    )
    .unwrap();
    let [bundle, files] = rules.as_slice() else {
        panic!("{rules:?}")
    };
    assert_eq!(
        (bundle.element, bundle.limits[0].value),
        (Element::Bundle, Value::CoveredRatio)
    );
    assert_eq!(
        bundle.limits[0].minimum.as_ref().unwrap().to_string(),
        "0.700"
    );
    assert_eq!(files.element, Element::SourceFile);
    assert_eq!(files.limits[0].maximum.as_ref().unwrap().to_string(), "10");
    assert!(files.origin.ends_with(":4"), "{}", files.origin);
}

#[test]
fn mistakes_are_displayed_with_their_position() {
    let xml = |inner: &str| format!("<rules>\n<rule>{inner}</rule>\n</rules>");
    let limit = |inner: &str| xml(&format!("<limits><limit>{inner}</limit></limits>"));
    for (text, place, told) in [
        (xml("<element>GROUP</element>"), "GROUP", "BUNDLE, PACKAGE, CLASS, SOURCEFILE, METHOD"),
        (xml("<elements>CLASS</elements>"), "<elements>", "element, includes, excludes, limits"),
        (xml("<includes>a</includes>"), "a<", "elements `<include>`"),
        (xml(""), "<rule>", "this rule limits nothing"),
        (limit("<counter>LINES</counter>"), "LINES", "INSTRUCTION, BRANCH"),
        (limit("<counter>LINE</counter>"), "<limit>", "`<minimum>` or `<maximum>`"),
        (limit("<minimum>80</minimum>"), "80", "a ratio from 0 to 1"),
        (limit("<minimum>${x}</minimum>"), "${x}", "the property `x` is not set"),
        ("<rules/>".to_owned(), "<rules/>", "there is no rule"),
        ("<project><build/></project>".to_owned(), "<project>", "jacoco-maven-plugin"),
        ("<jacoco/>".to_owned(), "<jacoco/>", "`<jacoco>` holds no rules"),
        ("[[rule]]\nlimits = []".to_owned(), "limits", "unknown field `limits`"),
        ("[[rule]]\nlimit = []".to_owned(), "[[rule]]", "this rule limits nothing"),
        ("[[rule]]\nlimit = [{ counter = \"lines\", minimum = 1 }]".to_owned(), "lines", "instruction, branch, line"),
        ("[[rule]]\nlimit = [{ counter = \"line\", minimum = 80 }]".to_owned(), "80", "such as `0.80` or `80%`"),
        ("[[rule]]\nlimit = [{ counter = \"line\" }]".to_owned(), "{ counter", "`minimum` or `maximum`"),
        ("[[rule]]\nelement = \"class\"\ninclude = [\"a b\"]\nlimit = [{ counter = \"line\", minimum = 1 }]".to_owned(), "a b", "no class name can have"),
        ("".to_owned(), "", "there is no rule"),
        ("rule = 1 =".to_owned(), "=", "error[H0676]"),
    ] {
        let error = read(&text).unwrap_err();
        assert!(error.contains("error[H0676]") && error.contains(told), "{error}");
        let lines: Vec<&str> = error.lines().collect();
        let carets = lines.iter().position(|line| line.trim_start().starts_with('^'));
        let carets = carets.unwrap_or_else(|| panic!("{error}"));
        let column = lines[carets].find('^').unwrap();
        assert!(lines[carets - 1][column..].starts_with(place), "{error}");
    }
}
