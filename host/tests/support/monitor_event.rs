//! An event for an observer of monitors.

use jvm_events::EventDetails;
use jvm_events::batch::{Event, Names};
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
        thread: names.text("main"),
        class: names.text("a.Gate"),
        stack: names.stack(&[(1, 1)], frame),
        ..Event::new(EventDetails::Entered { nanos: 5 }, 1)
    };
    event.words().to_vec()
}
