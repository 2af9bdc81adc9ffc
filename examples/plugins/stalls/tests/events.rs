//! The plugin's tables for some events, without a JVM.

use classhook_sdk::EventDetails;
use classhook_testkit::{JvmEvents, observe, subscriptions};
use stalls::Watch;

#[test]
fn waits_are_added_up_by_place_and_collections_together() {
    let entered = |nanos| EventDetails::Entered { nanos };
    let collection = |nanos| EventDetails::Collection { nanos, used: 0 };
    let (find, put) = (("acme/Store", "find", 7), ("acme/Store", "put", 9));
    let events = JvmEvents::default()
        .event("a", "acme.Gate", entered(5), &[find])
        .event("", "", collection(3), &[])
        .event("b", "acme.Gate", entered(20), &[put])
        .event("a", "acme.Gate", EventDetails::Waited { nanos: 99 }, &[put])
        .event("", "", collection(4), &[])
        .event("c", "acme.Gate", entered(6), &[find]);
    let made = observe::<Watch>("", &events);
    made.assert_table(
        "monitors",
        "monitor,method,line,waits,total,longest\n\
         acme.Gate,acme.Store.put,9,1,20,20\n\
         acme.Gate,acme.Store.find,7,2,11,6\n",
    );
    made.assert_table("pauses", "collections,total,longest\n2,7,4\n");
}

#[test]
fn unneeded_names_are_not_looked_up() {
    let asked = subscriptions::<Watch>("at-least-ms = 2").expect("accepted");
    let mut names: Vec<_> = asked.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["collections", "monitors"]);
}
