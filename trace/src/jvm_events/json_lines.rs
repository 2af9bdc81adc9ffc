//! One JSON object per row, for programs.

use std::io::{self, Write};

use jvm_events::Recorded;
use jvm_events::recorded::Wait;
use serde_json::{Value, json};

use super::names::{method, place};

/// Writes a line for each row of each JVM; stacks start with their innermost frame.
///
/// # Errors
/// `out` cannot be written.
pub fn write(all: &[Recorded], out: &mut impl Write) -> io::Result<()> {
    for recorded in all {
        for row in rows(recorded) {
            writeln!(out, "{row}")?;
        }
    }
    Ok(())
}

/// Returns the values of waits for a monitor, with its owner for waits to enter it.
fn wait(recorded: &Recorded, one: &Wait, is_contended: bool) -> Value {
    let mut values = json!({
        "class": recorded.class(one.class), "count": one.count, "total_ns": one.total_ns, "longest_ns": one.longest_ns,
        "unfinished": one.unfinished,
    });
    if is_contended {
        let frames = &recorded.stacks.frames;
        let at = one.owner_at.and_then(|at| frames.get(at as usize));
        values["holder"] = json!(one.owner.map(|owner| recorded.thread(owner)));
        values["holder_at"] = json!(at.map(place));
    }
    values
}

fn rows(recorded: &Recorded) -> impl Iterator<Item = Value> {
    let row = |kind: &str, thread: u32, node, values: Value| {
        let mut row = json!({
            "kind": kind,
            "pid": recorded.jvm.pid,
            "thread": recorded.thread(thread),
            "stack": recorded.stacks.path(node).map(place).collect::<Vec<_>>(),
        });
        if let (Some(row), Value::Object(values)) = (row.as_object_mut(), values) {
            row.extend(values);
        }
        row
    };
    let class = |class| recorded.class(class).to_owned();
    let mut rows = Vec::new();
    rows.extend(recorded.cpu.iter().map(|one| {
        let values = json!({
            "samples": one.samples, "cpu_ns": one.cpu_ns, "shared_ns": one.shared_ns,
        });
        row("cpu", one.thread, one.node, values)
    }));
    rows.extend(recorded.wall.iter().map(|one| {
        let values = json!({"state": one.state, "samples": one.samples, "wall_ns": one.nanos});
        row("wall", one.thread, one.node, values)
    }));
    rows.extend(recorded.system.iter().map(|one| {
        let values = json!({"work": one.work, "cpu_ns": one.cpu_ns});
        row("system", one.thread, None, values)
    }));
    rows.extend(recorded.allocations.iter().map(|one| {
        let mut values = json!({
            "class": class(one.class), "samples": one.samples, "objects": one.objects, "bytes": one.bytes,
        });
        if recorded.subscription.live {
            values["live_objects"] = json!(one.live_objects);
            values["live_bytes"] = json!(one.live_bytes);
        }
        row("allocation", one.thread, one.node, values)
    }));
    for (kind, waits) in [
        ("contended", &recorded.contended),
        ("wait", &recorded.waits),
    ] {
        rows.extend(waits.iter().map(|one| {
            let values = wait(recorded, one, kind == "contended");
            row(kind, one.thread, one.node, values)
        }));
    }
    rows.extend(recorded.locks.iter().map(|one| {
        let wait = &one.wait;
        let values = json!({
            "class": class(wait.class), "holder": one.holder.map(|holder| recorded.thread(holder)),
            "count": wait.count, "total_ns": wait.total_ns, "longest_ns": wait.longest_ns,
            "unfinished": wait.unfinished,
        });
        row("parked", wait.thread, wait.node, values)
    }));
    rows.extend(recorded.exceptions.iter().map(|one| {
        let caught = one.caught.and_then(|at| recorded.stacks.frames.get(at as usize));
        let values = json!({
            "class": class(one.class), "count": one.count, "caught": caught.map(place), "catcher": caught.map(method),
            "swallowed": one.swallowed,
        });
        row("exception", one.thread, one.node, values)
    }));
    rows.extend(recorded.references.iter().map(|one| {
        let values = json!({
            "class": class(one.class), "weak": one.is_weak, "created": one.created, "open": one.open,
        });
        row("reference", one.thread, one.node, values)
    }));
    rows.extend(recorded.collections.iter().map(|one| {
        json!({
            "kind": "collection", "pid": recorded.jvm.pid, "start_ns": one.start_ns,
            "duration_ns": one.duration_ns, "used_after": one.used_after, "heap_after": one.heap_after,
        })
    }));
    for (number, deadlock) in recorded.deadlocks.iter().enumerate() {
        rows.extend(deadlock.threads.iter().map(|one| {
            let values =
                json!({"number": number, "class": class(one.class), "is_lock": one.is_lock});
            row("deadlock", one.thread, one.node, values)
        }));
    }
    rows.extend(recorded.moments.iter().map(|one| {
        let values = json!({
            "what": one.kind, "at_ns": one.at_ns, "amount": one.amount, "class": class(one.class),
        });
        row("moment", one.thread, one.node, values)
    }));
    rows.push(recording(recorded));
    rows.into_iter()
}

/// Returns the last row, which describes the recording itself.
fn recording(recorded: &Recorded) -> Value {
    json!({
        "kind": "recording", "pid": recorded.jvm.pid, "jvm": recorded.jvm.version, "start_ms": recorded.start_ms,
        "duration_ns": recorded.duration_ns, "complete": recorded.complete, "turns": recorded.turns,
        "process_cpu_ns": recorded.process_cpu_ns,
        "wall_looks": recorded.wall_looks, "other_references": recorded.other_references, "lost": recorded.lost, "cut_stacks": recorded.stacks.cut,
    })
}
