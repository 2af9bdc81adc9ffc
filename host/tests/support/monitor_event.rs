//! An event for an observer of monitors.

use jvm_events::batch::{Event, EventType, Names};
use jvm_events::stacks::Frame;

/// The words of the event of a thread that entered a monitor.
pub fn entered(names: &mut Names) -> Vec<u64> {
    let frame = |_| Frame {
        class: "a/B".to_owned(),
        method: "m".to_owned(),
        line: 7,
        ..Frame::default()
    };
    let event = Event {
        kind: EventType::Entered,
        thread: names.text("main"),
        nanos: 1,
        class: names.text("a.Gate"),
        stack: names.stack(&[(1, 1)], frame),
        values: [5, 0],
    };
    event.words().to_vec()
}
