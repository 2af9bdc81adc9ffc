use std::collections::BTreeMap;

use probes::events::{
    Capture, CaptureSource, SpanInfo, SpanMode, Step, Task, ThreadInfo, Trace, Value,
};

use super::*;
use crate::names::Names;

const MS: u64 = 1_000_000;

fn call(span: u32, start: u64, end: u64) -> Call {
    Call {
        thread: 1,
        span,
        start: start * MS,
        end: end * MS,
        outcome: Outcome::Returned,
        captures: Vec::new(),
    }
}

fn open(span: u32, start: u64, seen: u64) -> Call {
    Call {
        outcome: Outcome::Open,
        ..call(span, start, seen)
    }
}

fn wait(kind: WaitKind, start: u64, end: u64, holders: &str) -> Wait {
    Wait {
        thread: 1,
        is_virtual: false,
        kind,
        start: start * MS,
        end: end * MS,
        class: "a/Lock".into(),
        holders: holders.to_owned(),
    }
}

/// Creates a trace with methods `m0` to `m9` of one class, and one thread.
fn trace() -> Trace {
    let span = |id| SpanInfo {
        id,
        class: "a/A".to_owned(),
        method: format!("m{id}"),
        mode: SpanMode::Events,
        ..SpanInfo::default()
    };
    let main = ThreadInfo {
        id: 1,
        name: "main".to_owned(),
        is_virtual: false,
    };
    Trace {
        spans: (0..10).map(|id| (id, span(id))).collect(),
        threads: BTreeMap::from([(1, main)]),
        ..Trace::default()
    }
}

fn texts(calls: &mut SlowCalls) -> Vec<String> {
    let trace = trace();
    let names = Names::of([&trace]);
    let found = calls.take().into_iter();
    found.map(|slow| lines(&trace, &names, &slow)).collect()
}

fn finished(calls: &mut SlowCalls) -> Vec<String> {
    calls.finish();
    texts(calls)
}

const TREE: &str = "\
00:00:00.400Z  main  400.0 ms
     total        self
  400.0 ms    197.0 ms  a.A.m0
 ~100.0 ms              ├ [parked for a.Lock, held by one, two]
  100.0 ms    50.00 ms  ├ a.A.m1
  50.00 ms              │ └ [waited for the monitor of a.Lock, held by one]
  8.000 ms              ├ [garbage collection]
  3.000 ms              └ … 3 more calls
";

#[test]
fn tree_is_independent_of_the_order_of_calls_and_waits() {
    let calls = [
        call(2, 210, 211),
        call(1, 110, 210),
        call(2, 212, 213),
        call(2, 214, 215),
        call(0, 0, 400),
    ];
    let waits = [
        wait(WaitKind::Monitor, 150, 200, "one"),
        wait(WaitKind::Park, 5, 105, "one, two"),
    ];
    for turn in 0..calls.len() {
        for late in [false, true] {
            let mut slow = SlowCalls::new(200 * MS);
            let mut turned = calls.clone();
            turned.rotate_left(turn);
            let add = |slow: &mut SlowCalls| waits.clone().map(|wait| slow.wait(wait));
            if !late {
                add(&mut slow);
            }
            turned.iter().for_each(|call| slow.call(call, false));
            if late {
                add(&mut slow);
            }
            let mut collection = wait(WaitKind::Collection, 300, 308, "");
            collection.thread = 0;
            slow.wait(collection);
            assert_eq!(
                finished(&mut slow),
                [TREE],
                "turn {turn}, waits late: {late}"
            );
        }
    }
}

/// Returns the JSON of the calls found so far.
fn json_lines(calls: &mut SlowCalls) -> Vec<serde_json::Value> {
    let trace = trace();
    let mut text = Vec::new();
    for slow in calls.take() {
        write_json_line(&trace, &slow, &mut text).unwrap();
    }
    let lines = String::from_utf8(text).unwrap();
    let lines = lines.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The JSON form has each line of [`TREE`], with exact times.
#[test]
fn json_has_the_calls_the_waits_and_what_is_left_out() {
    let mut slow = SlowCalls::new(200 * MS);
    let mut outer = call(0, 0, 400);
    outer.captures.push(Capture {
        source: CaptureSource::Argument(1),
        value: Value::Int(7),
    });
    outer.outcome = Outcome::Threw(Some("a/Broken".into()));
    slow.call(&call(1, 110, 210), false);
    for (start, end) in [(210, 211), (212, 213), (214, 215)] {
        slow.call(&call(2, start, end), false);
    }
    slow.call(&outer, false);
    slow.wait(wait(WaitKind::Monitor, 150, 200, "one"));
    slow.wait(wait(WaitKind::Park, 5, 105, "one, two"));
    let mut collection = wait(WaitKind::Collection, 300, 308, "");
    collection.thread = 0;
    slow.wait(collection);
    slow.finish();
    let method = |number: u32| {
        let name = format!("m{number}");
        serde_json::json!({"class": "a.A", "method": name, "descriptor": ""})
    };
    let with = |mut object: serde_json::Value, more: serde_json::Value| {
        let more = more.as_object().unwrap().clone();
        object.as_object_mut().unwrap().extend(more);
        object
    };
    let monitor = serde_json::json!({
        "wait": "monitor", "class": "a.Lock", "holders": "one",
        "start": 150 * MS, "duration": 50 * MS,
    });
    let inner = with(
        method(1),
        serde_json::json!({
            "self": 50 * MS, "start": 110 * MS, "duration": 100 * MS, "within": [monitor],
        }),
    );
    let parked = serde_json::json!({
        "wait": "park", "class": "a.Lock", "holders": "one, two", "approximate": true,
        "start": 5 * MS, "duration": 100 * MS,
    });
    let collected = serde_json::json!({
        "wait": "collection", "start": 300 * MS, "duration": 8 * MS,
    });
    let left_out = serde_json::json!({
        "calls": 3, "nanos": 3 * MS, "waits": 0, "waited": 0, "tasks": 0, "levels": 0,
    });
    let outer = with(
        method(0),
        serde_json::json!({
            "self": 197 * MS, "start": 0, "duration": 400 * MS,
            "arguments": {"1": 7}, "thrown": "a.Broken",
            "within": [parked, inner, collected], "left_out": left_out,
        }),
    );
    let expected = serde_json::json!({
        "pid": 0, "start_ms": 0, "thread": 1, "thread_name": "main", "call": outer,
    });
    assert_eq!(json_lines(&mut slow), [expected]);
}

/// The times of a parked thread are inexact: the middle of its wait determines its call.
#[test]
fn wait_with_an_inexact_start_belongs_to_its_call() {
    let mut slow = SlowCalls::new(100 * MS);
    slow.call(&call(1, 100, 200), false);
    slow.wait(wait(WaitKind::Park, 90, 210, ""));
    slow.call(&call(0, 0, 300), false);
    let tree = finished(&mut slow).concat();
    assert!(tree.contains("└ a.A.m1\n"), "{tree}");
    assert!(tree.contains("  └ [parked for a.Lock]\n"), "{tree}");
}

#[test]
fn values_and_exceptions_follow_the_method() {
    let mut slow = SlowCalls::new(MS);
    let mut thrown = call(3, 0, 5);
    thrown.outcome = Outcome::Threw(Some("a/Broken".into()));
    thrown.captures.push(Capture {
        source: CaptureSource::Argument(1),
        value: Value::Int(7),
    });
    slow.call(&thrown, false);
    let tree = finished(&mut slow).concat();
    assert!(
        tree.contains("a.A.m3  arg[1] = 7  threw a.Broken\n"),
        "{tree}"
    );
}

#[test]
fn calls_within_open_calls_and_fast_calls_are_no_trees() {
    let mut slow = SlowCalls::new(200 * MS);
    slow.call(&call(1, 5, 405), false);
    slow.call(&open(0, 1, 1_000), false);
    slow.call(&call(1, 500, 600), false);
    slow.settle(10_000 * MS);
    assert!(texts(&mut slow).is_empty(), "the caller is open");
    slow.call(&call(0, 1, 2_000), false);
    slow.call(&call(1, 3_000, 3_100), false);
    slow.settle(2_499 * MS);
    assert!(texts(&mut slow).is_empty(), "it may have a caller");
    slow.settle(3_010 * MS);
    let trees = texts(&mut slow);
    assert_eq!(trees.len(), 1, "{trees:?}");
    assert!(
        trees[0].contains("├ a.A.m1") && trees[0].contains("└ a.A.m1"),
        "{}",
        trees[0]
    );
    slow.settle(10_000 * MS);
    assert!(slow.threads.is_empty());
}

/// A caller that began before a long call was seen open when the call ends; waits may be reported a little later.
#[test]
fn long_call_is_complete_soon_after_its_end() {
    let mut slow = SlowCalls::new(200 * MS);
    slow.call(&call(0, 0, 10_000), false);
    slow.settle(10_400 * MS);
    assert!(texts(&mut slow).is_empty(), "its waits may come");
    slow.settle(10_501 * MS);
    assert_eq!(texts(&mut slow).len(), 1);
}

#[test]
fn open_call_is_shown_only_at_the_end() {
    let mut slow = SlowCalls::new(200 * MS);
    slow.call(&open(0, 0, 900), false);
    slow.call(&open(1, 100, 900), false);
    slow.settle(60_000 * MS);
    assert!(texts(&mut slow).is_empty());
    let trees = finished(&mut slow);
    assert_eq!(trees.len(), 1);
    assert!(
        trees[0].contains("  900.0 ms  has not ended\n"),
        "{}",
        trees[0]
    );
    assert!(trees[0].contains("└ a.A.m1"), "{}", trees[0]);
}

#[test]
fn two_threads_have_two_trees() {
    let mut slow = SlowCalls::new(200 * MS);
    for (thread, at) in [(1, 0), (2, 1)] {
        let of = |call: Call| Call { thread, ..call };
        slow.call(&of(call(1, 100 + at, 200)), false);
        slow.call(&of(call(0, at, 300 + at)), false);
    }
    let trees = finished(&mut slow);
    assert_eq!(trees.len(), 2);
    assert!(
        trees.iter().all(|tree| tree.matches("a.A.m1").count() == 1),
        "{trees:?}"
    );
}

/// 100,000 nested calls end from the inside out, and were seen open from the outside in.
#[test]
fn deep_recursion_is_cut_and_counted() {
    let depth = 100_000;
    for is_seen_open in [false, true] {
        let mut slow = SlowCalls::new(MS);
        if is_seen_open {
            (0..depth).for_each(|at| slow.call(&open(0, at, 2 * depth), false));
        }
        for at in (0..depth).rev() {
            slow.call(&call(0, at, 2 * depth - at), false);
        }
        let tree = finished(&mut slow).concat();
        assert!(tree.lines().count() < 50, "{tree}");
        let more = crate::numbers::thousands(depth - 33);
        let more = format!("… {more} more calls, up to ");
        assert!(tree.contains(&more), "seen open: {is_seen_open}: {tree}");
    }
}

#[test]
fn open_deep_recursion_is_cut() {
    let mut slow = SlowCalls::new(MS);
    (0..10_000).for_each(|at| slow.call(&open(0, at, 20_000), false));
    let tree = finished(&mut slow).concat();
    assert!(tree.lines().count() < 50, "{tree}");
    assert!(
        tree.contains("… calls that have not ended, up to "),
        "{tree}"
    );
}

#[test]
fn wide_tree_has_some_lines_and_counts_the_rest() {
    let mut slow = SlowCalls::new(100 * MS);
    let count = 100_000;
    (0..count).for_each(|at| slow.call(&call(1, 2 * at + 1, 2 * at + 2), false));
    slow.call(&call(2, 2 * count + 1, 4 * count), false);
    slow.call(&call(0, 0, 5 * count), false);
    let tree = finished(&mut slow).concat();
    assert_eq!(tree.lines().count(), 5, "{tree}");
    assert!(tree.contains("├ a.A.m2\n"), "{tree}");
    assert!(
        tree.contains("100.0 s              └ … 100,000 more calls\n"),
        "{tree}"
    );
}

/// Steps of tasks may come from any number of threads.
#[test]
fn threads_that_only_submit_tasks_are_not_remembered() {
    let mut calls = SlowCalls::new(MS);
    for thread in 1..=1_000 {
        calls.step(&TaskStep {
            thread,
            is_virtual: true,
            nanos: thread,
            step: Step::Submitted,
            task: Some(Task {
                class: "a/Task".into(),
                identity: thread as u32,
            }),
        });
    }
    calls.follow(u64::MAX);
    assert!(calls.threads.is_empty(), "{} threads", calls.threads.len());
}

#[test]
fn memory_does_not_grow_with_calls_and_each_is_counted() {
    let mut slow = SlowCalls::new(1_000 * MS);
    let count = 4 * WAITING as u64;
    for at in 0..count {
        slow.call(&call(1, 2 * at + 1, 2 * at + 2), false);
        let kept: usize = slow.threads.values().map(|it| it.outermost.len()).sum();
        assert!(kept <= WAITING + 20, "{kept}");
    }
    slow.call(&call(0, 0, 3 * count), false);
    let tree = finished(&mut slow).concat();
    let more = format!("… {} more calls\n", crate::numbers::thousands(count));
    assert!(tree.contains(&more), "{tree}");
}

/// Many slow calls in a short time, each with as many calls as have a line. None is known as outermost yet.
#[test]
fn memory_does_not_grow_with_slow_calls_and_each_is_found() {
    let mut slow = SlowCalls::new(100);
    let count = 200_000;
    let mut found = 0;
    for at in 0..count {
        let (begin, nanos) = (at * 1_000, 40);
        for callee in 0..10 {
            let start = begin + 10 + callee * 50;
            slow.call(
                &Call {
                    start,
                    end: start + nanos,
                    ..call(1, 0, 0)
                },
                false,
            );
        }
        let outer = Call {
            start: begin,
            end: begin + 900,
            ..call(0, 0, 0)
        };
        slow.call(&outer, false);
        found += slow.take().len() as u64;
        if at % 1_000 == 0 {
            assert!(slow.size() <= WAITING + 20, "{}", slow.size());
        }
    }
    slow.finish();
    found += slow.take().len() as u64;
    assert_eq!(found, count);
}

/// Threads with one call each; the first one has a slow call around its own, and the second one a slow call after it.
#[test]
fn memory_does_not_grow_with_threads_and_incomplete_trees_are_counted() {
    let mut slow = SlowCalls::new(10_000 * MS);
    let threads = WAITING as u64;
    for thread in 1..=threads {
        slow.call(&on(thread, 1, thread, thread + 1), false);
        assert!(slow.threads.len() < WAITING / THREAD);
        if thread % 1_000 == 0 {
            assert!(slow.size() <= WAITING + THREAD, "{}", slow.size());
        }
    }
    slow.call(&on(1, 0, 0, 2 * threads), false);
    slow.call(&on(2, 0, 100, 2 * threads), false);
    let [first, second] = &finished(&mut slow)[..] else {
        panic!("two trees");
    };
    let missing = "… earlier calls of this thread are unknown\n";
    assert!(first.ends_with(missing), "{first}");
    assert!(!second.contains(missing), "{second}");
    let lost = LostCalls {
        incomplete: 1,
        open: 0,
    };
    assert_eq!(slow.take_lost_calls(), lost);
    assert_eq!(slow.take_lost_calls(), LostCalls::default());
}

/// Slow calls of all threads are found, also those that must make room.
#[test]
fn slow_calls_of_dropped_threads_are_found() {
    let mut slow = SlowCalls::new(MS);
    let threads = WAITING as u64;
    let mut found = 0;
    for thread in 1..=threads {
        slow.call(&on(thread, 1, thread, thread + 1), false);
        found += slow.take().len() as u64;
    }
    slow.finish();
    assert_eq!(found + slow.take().len() as u64, threads);
    assert_eq!(slow.take_lost_calls(), LostCalls::default());
}

/// Open calls are dropped last, and counted. Those that end later are found.
#[test]
fn dropped_open_calls_are_counted() {
    let mut slow = SlowCalls::new(MS);
    let opened = |thread, end, outcome| Call {
        outcome,
        ..on(thread, 1, 1, end)
    };
    let threads = WAITING as u64;
    for thread in 1..=threads {
        slow.call(&opened(thread, 1_000 + thread, Outcome::Open), false);
        slow.call(&on(thread + threads, 1, thread, thread + 1), false);
    }
    let kept = slow.threads.len() as u64;
    let lost = slow.take_lost_calls();
    assert_eq!(lost.incomplete, 0);
    assert!(lost.open > 0 && lost.open + kept >= threads, "{lost:?}");
    drop(slow.take());
    slow.call(&opened(1, 2_000, Outcome::Returned), false);
    slow.finish();
    let ended = slow.take();
    let first = ended.iter().find(|it| it.thread == 1).unwrap();
    assert!(!first.lacks_calls && first.root.nanos() == 1_999 * MS);
}

#[test]
fn long_values_take_more_room() {
    let mut slow = SlowCalls::new(MS);
    let text = Capture {
        source: CaptureSource::Argument(0),
        value: Value::Text {
            text: "x".repeat(1 << 16),
            length: 1 << 16,
        },
    };
    for at in 0..2_000 {
        let mut long = call(1, 10 * at + 1, 10 * at + 9);
        long.captures.push(text.clone());
        slow.call(&long, false);
        drop(slow.take());
        assert!(slow.size() <= WAITING + 300, "{}", slow.size());
    }
}

/// A call lasts for hours and contains as many long calls.
#[test]
fn open_call_keeps_a_bounded_number_of_long_calls() {
    let mut slow = SlowCalls::new(MS);
    slow.call(&open(0, 0, 1), false);
    let count = 100_000;
    for at in 0..count {
        slow.call(&call(1, 10 * at + 1, 10 * at + 9), false);
        if at % 1_000 == 0 {
            slow.settle(10 * at * MS);
        }
    }
    slow.settle(u64::MAX);
    let size: usize = slow
        .threads
        .values()
        .flat_map(|it| &it.outermost)
        .map(Node::size)
        .sum();
    assert!(size < 10_000, "{size}");
    slow.call(&call(0, 0, 20 * count), false);
    let tree = finished(&mut slow).concat();
    assert!(tree.contains("… 100,000 more calls\n"), "{tree}");
}

#[test]
fn discarded_collections_are_mentioned() {
    let mut slow = SlowCalls::new(MS);
    for at in 0..COLLECTIONS as u64 + 1 {
        slow.wait(wait(WaitKind::Collection, 10 * at, 10 * at + 1, ""));
    }
    slow.call(&call(0, 0, 1), false);
    let tree = finished(&mut slow).concat();
    assert!(tree.contains("… earlier collections are unknown"), "{tree}");
}

#[test]
fn reset_discards_all_data() {
    let mut slow = SlowCalls::new(MS);
    slow.call(&call(0, 0, 100), false);
    slow.reset();
    assert!(finished(&mut slow).is_empty());
}

fn on(thread: u64, span: u32, start: u64, end: u64) -> Call {
    Call {
        thread,
        ..call(span, start, end)
    }
}

/// Creates a step of the task with this number.
fn step(thread: u64, ms: u64, step: Step, task: u32) -> TaskStep {
    TaskStep {
        thread,
        is_virtual: false,
        nanos: ms * MS,
        step,
        task: Some(Task {
            class: "a/Task".into(),
            identity: task,
        }),
    }
}

const TASKS: &str = "\
00:00:00.500Z  main  400.0 ms
     total        self
  400.0 ms    300.0 ms  a.A.m0
  100.0 ms    100.0 ms  ├ a.A.m1
  300.0 ms    250.0 ms  │ └ a.A.m2  [on thread-2, 30.00 ms after it was submitted]
  50.00 ms    50.00 ms  │   ├ a.A.m3
  20.00 ms    20.00 ms  │   └ a.A.m4  [on thread-3, 300.0 ms after it was submitted]
                        └ … 1 task
";

/// A task runs during and after its submitting call. It submits another one, which runs when all others have ended. A
/// third one is short.
#[test]
fn calls_of_tasks_are_shown_below_their_submitter() {
    let calls = [
        on(1, 1, 150, 250),
        on(1, 0, 100, 500),
        on(2, 3, 240, 290),
        on(2, 2, 230, 530),
        on(3, 4, 595, 615),
        on(3, 5, 700, 701),
    ];
    let steps = [
        step(1, 200, Step::Submitted, 1),
        step(2, 229, Step::Begun, 1),
        step(2, 295, Step::Submitted, 2),
        step(1, 300, Step::Submitted, 3),
        step(2, 531, Step::Ended, 1),
        step(3, 594, Step::Begun, 2),
        step(3, 616, Step::Ended, 2),
        step(3, 699, Step::Begun, 3),
        step(3, 702, Step::Ended, 3),
    ];
    for is_settled in [false, true] {
        let mut slow = SlowCalls::new(200 * MS);
        calls.iter().for_each(|call| slow.call(call, false));
        steps.iter().for_each(|step| slow.step(step));
        if is_settled {
            slow.settle(10_000 * MS);
        }
        assert_eq!(finished(&mut slow), [TASKS]);
        assert!(slow.threads.is_empty() && slow.take_lost_tasks() == 0);
    }
}

/// The submitting call was shown already, or is not slow.
#[test]
fn slow_task_without_an_enclosing_tree_names_its_submitter() {
    let mut slow = SlowCalls::new(200 * MS);
    slow.call(&on(1, 0, 100, 110), false);
    slow.step(&step(1, 105, Step::Submitted, 1));
    slow.settle(5_000 * MS);
    assert_eq!(texts(&mut slow), [""; 0]);
    slow.step(&step(2, 6_000, Step::Begun, 1));
    slow.call(&on(2, 2, 6_001, 6_301), false);
    slow.settle(11_000 * MS);
    let expected = "\
00:00:06.301Z  thread-2  300.0 ms  submitted by a.A.m0 on main
     total        self
  300.0 ms    300.0 ms  a.A.m2
";
    assert_eq!(texts(&mut slow), [expected]);
}

/// A call stays open while tasks that it submitted come and go.
#[test]
fn tree_of_an_open_call_with_many_tasks_stays_small() {
    let mut slow = SlowCalls::new(100 * MS);
    slow.call(&open(0, 1, 60_000), false);
    let count = 20_000;
    for task in 0..count {
        let at = 10 + u64::from(task);
        slow.step(&step(1, at, Step::Submitted, task));
        slow.step(&step(2, 100_000 + at * 2, Step::Begun, task));
        slow.call(&on(2, 1, 100_000 + at * 2, 100_000 + at * 2 + 1), false);
        slow.step(&step(2, 100_000 + at * 2 + 1, Step::Ended, task));
    }
    slow.call(&call(0, 1, 300_000), false);
    let [text] = &finished(&mut slow)[..] else {
        panic!("one tree");
    };
    assert!(text.contains("20,000 tasks"), "{text}");
}

#[test]
fn long_value_is_cut_with_a_mark() {
    let mut slow = SlowCalls::new(100 * MS);
    let mut call = call(0, 1, 200);
    let text = "ä".repeat(700);
    call.captures.push(Capture {
        source: CaptureSource::Argument(0),
        value: Value::Text { length: 700, text },
    });
    slow.call(&call, false);
    let [text] = &finished(&mut slow)[..] else {
        panic!("one tree");
    };
    let shown = format!("  arg[0] = \"{}…\n", "ä".repeat(119));
    assert!(text.ends_with(&shown), "{text}");
}
