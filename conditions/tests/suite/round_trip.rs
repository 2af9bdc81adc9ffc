//! Printed conditions parse to the original value.

use conditions::{Condition, Show};
use proptest::prelude::*;

use crate::generated;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn printed_condition_round_trips(condition in generated::condition()) {
        let text = condition.to_string();
        prop_assert_eq!(Condition::parse(&text).map_err(|it| it.to_string()), Ok(condition));
    }

    #[test]
    fn printed_list_round_trips(
        list in prop::collection::vec(generated::show(), 1..8)
    ) {
        let texts: Vec<String> = list.iter().map(Show::to_string).collect();
        let read = Show::parse_list(&texts.join(", "));
        prop_assert_eq!(read.map_err(|it| it.to_string()), Ok(list));
    }
}

#[test]
fn conditions_print_in_their_written_form() {
    for text in [
        "duration > 100ms && arg[0] == \"x\" || threw",
        "!(a[0])",
        "(threw || depth > 3) && !this.open",
        "!(duration >= 1500µs)",
        "thrown == \"java.io.IOException\" || thrown.matches(\"com.acme.*\")",
        "arg[2].order.lines[0].text.length <= -5",
        "arg[0] == '\\u0000' && arg[1] == 2.5e-7",
        "args.length == 2 && thread.startsWith(\"http-\")",
        "returned.class == \"java.util.ArrayList\" && returned.size == 0",
    ] {
        let text = text.replace("!(a[0])", "!arg[0]");
        let printed = Condition::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(printed.to_string(), text);
    }
    let same = |one: &str, other: &str| {
        let (one, other) = (Condition::parse(one), Condition::parse(other));
        assert!(one.is_ok());
        assert_eq!(one, other);
    };
    same("duration>1.5s", "duration > 1500ms");
    same("duration > 1.5m", "duration > 90s");
    same("duration > 2h", "duration > 120m");
    same("duration > 1e3us", " duration\n> 1ms ");
    same("((threw))", "threw");
    same("!!threw", "!(!threw)");
    same("arg[0] == 'A'", "arg[0] == '\\u0041'");
    same("thrown.class == \"a.B\"", "thrown == \"a.B\"");
}
