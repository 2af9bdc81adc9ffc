//! The JVM's dump of virtual threads (from JDK 21 on), which JVM TI does not list.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use attach::Attachment;
use control::patch::VirtualFrames;
use errors::{Error, codes};
use local_files::jvm_tmp::JvmTmp;
use local_files::temporary;

/// Mark behind the name of a virtual thread.
const VIRTUAL: &str = " virtual";
/// Number of threads that are named at one place.
const NAMED: usize = 5;

/// Takes the JVM's dump, and hands each line of a virtual thread to `take`, beginning with its header. Returns false for
/// a JVM without virtual threads.
///
/// # Errors
/// If the JVM cannot be reached (`H05xx`), or the dump cannot be written or read (`H0620`).
pub fn dump(jvm: &Attachment, take: &mut dyn FnMut(&str)) -> Result<bool, Error> {
    let unwritten = |error: io::Error| {
        Error::partial(codes::H0620, "cannot write the dump of virtual threads")
            .with("found", error.to_string())
    };
    let help = jvm.jcmd("help").map_err(Error::from)?;
    if !help
        .lines()
        .any(|line| line.trim() == "Thread.dump_to_file")
    {
        return Ok(false);
    }
    let tmp = JvmTmp::open(jvm.process()).map_err(unwritten)?;
    let folder = temporary::folder(&tmp.path()).map_err(unwritten)?;
    tmp.give(folder.path()).map_err(unwritten)?;
    let theirs = tmp.seen(folder.path()).join("threads");
    let line = format!("Thread.dump_to_file {}", theirs.display());
    let answer = jvm.jcmd(&line).map_err(Error::from)?;
    let read = File::open(folder.path().join("threads"))
        .and_then(|file| lines_of_virtual(BufReader::new(file), take));
    read.map_err(|error| unwritten(error).with("answer", answer.trim()))?;
    Ok(true)
}

/// Hands on the lines of the virtual threads in a dump, without empty ones.
fn lines_of_virtual(mut dump: impl BufRead, take: &mut dyn FnMut(&str)) -> io::Result<()> {
    let (mut bytes, mut is_virtual) = (Vec::new(), false);
    loop {
        bytes.clear();
        if dump.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(());
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches(['\r', '\n']);
        if is_header(line) {
            // `#22 "name" virtual WAITING …`; the name may contain the word, too
            let behind = line.rsplit_once('"').map_or(line, |(_, behind)| behind);
            is_virtual = behind.starts_with(VIRTUAL);
        }
        if is_virtual && !line.is_empty() {
            take(line);
        }
    }
}

/// Checks whether a line of a dump begins a thread.
#[must_use]
pub fn is_header(line: &str) -> bool {
    line.starts_with('#')
}

/// Returns the frames of virtual threads in methods of these classes.
///
/// # Errors
/// As [`dump`].
pub fn frames(jvm: &Attachment, classes: &[String]) -> Result<Vec<VirtualFrames>, Error> {
    let mut found = FramesFound {
        classes: classes.iter().map(String::as_str).collect(),
        ..FramesFound::default()
    };
    dump(jvm, &mut |line| found.add(line))?;
    Ok(found.places.into_values().collect())
}

/// The frames in a dump, by class, method and line.
#[derive(Debug, Default)]
struct FramesFound<'c> {
    classes: HashSet<&'c str>,
    places: BTreeMap<(String, String, Option<u16>), VirtualFrames>,
    /// The number and name of the thread.
    thread: String,
    /// The places of this thread so far.
    of_thread: HashSet<(String, String, Option<u16>)>,
}

impl FramesFound<'_> {
    fn add(&mut self, line: &str) {
        if is_header(line) {
            let name = line.rfind('"').and_then(|end| line.get(..=end));
            let name = name.unwrap_or(line).trim_end_matches(" \"\"");
            name.clone_into(&mut self.thread);
            self.of_thread.clear();
            return;
        }
        let Some((class, method, line)) = frame(line) else {
            return;
        };
        if !self.classes.contains(class) {
            return;
        }
        let place = (class.to_owned(), method.to_owned(), line);
        if !self.of_thread.insert(place.clone()) {
            return; // a recursion
        }
        let frames = self.places.entry(place).or_insert_with(|| VirtualFrames {
            class: class.to_owned(),
            method: method.to_owned(),
            line,
            ..VirtualFrames::default()
        });
        frames.count += 1;
        if frames.threads.len() < NAMED {
            frames.threads.push(self.thread.clone());
        }
    }
}

/// Splits `app//com.acme.Orders.ship(Orders.java:12)`, also behind `at`, into class, method and line.
fn frame(line: &str) -> Option<(&str, &str, Option<u16>)> {
    let (name, place) = line.trim().split_once('(')?;
    // JDK 25 and newer begin with this word
    let name = name.strip_prefix("at ").unwrap_or(name);
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    let (class, method) = name.rsplit_once('.')?;
    let line = place.trim_end_matches(')').rsplit_once(':');
    Some((class, method, line.and_then(|(_, line)| line.parse().ok())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "\
4711
2026-11-27T10:00:00Z

#1 \"main\"
      Endless.forever(Endless.java:10)

#22 \"a \"virtual\" name\" virtual
      java.base/java.lang.VirtualThread.park(VirtualThread.java:592)
      app//Endless.forever(Endless.java:10)
      app//Endless.forever(Endless.java:10)
      Endless.run(Endless.java)

#23 \"\" virtual WAITING 2026-11-27T10:00:00Z
    at Endless.forever(Endless.java:10)
      com.acme.Other.forever(Other.java:10)
";

    #[test]
    fn frames_of_virtual_threads_are_counted_by_place_and_thread() {
        let mut found = FramesFound {
            classes: ["Endless"].into(),
            ..FramesFound::default()
        };
        lines_of_virtual(DUMP.as_bytes(), &mut |line| found.add(line)).unwrap();
        let places: Vec<VirtualFrames> = found.places.into_values().collect();
        let place = |method: &str, line, threads: &[&str]| VirtualFrames {
            class: "Endless".to_owned(),
            method: method.to_owned(),
            line,
            threads: threads.iter().map(|&thread| thread.to_owned()).collect(),
            count: threads.len(),
        };
        let first = "#22 \"a \"virtual\" name\"";
        assert_eq!(
            places,
            [
                place("forever", Some(10), &[first, "#23"]),
                place("run", None, &[first])
            ]
        );
    }

    #[test]
    fn virtual_threads_are_distinguished_from_threads_with_that_name() {
        let dump = "4711\n\n#1 \"main\" RUNNABLE\n    at A.a\n\n#22 \"v \" virtual\" virtual WAITING\n    at B.b\n\n#23 \" virtual\" RUNNABLE\n    at C.c\n#24 \"\" virtual\n    at D.d\n";
        let mut found = Vec::new();
        lines_of_virtual(dump.as_bytes(), &mut |line| found.push(line.to_owned())).unwrap();
        let expected = [
            "#22 \"v \" virtual\" virtual WAITING",
            "    at B.b",
            "#24 \"\" virtual",
            "    at D.d",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn only_the_first_threads_at_a_place_are_named() {
        let mut found = FramesFound {
            classes: ["A"].into(),
            ..FramesFound::default()
        };
        for number in 0..1_000 {
            found.add(&format!("#{number} \"\" virtual"));
            found.add("    A.run(A.java:1)");
        }
        let place = found.places.into_values().next().unwrap();
        assert_eq!((place.threads.len(), place.count), (NAMED, 1_000));
    }
}
