//! The used bytes of a JVM's heap, read without an agent.

use attach::Attachment;

/// Returns the used bytes of all spaces. `None` if the JVM does not report them.
#[must_use]
pub fn of(jvm: &Attachment) -> Option<u64> {
    jvm.jcmd("GC.heap_info").ok().and_then(|text| parse(&text))
}

/// Adds up `used` of the generations, or of the whole heap, without their spaces and metaspace.
fn parse(text: &str) -> Option<u64> {
    let heap = text.lines().take_while(|line| !line.contains("Metaspace"));
    heap.filter_map(used).reduce(|sum, bytes| sum + bytes)
}

/// Parses `used 4134K` or `6790K used`. A space of a generation has a percentage instead.
fn used(line: &str) -> Option<u64> {
    let words: Vec<&str> = line.split([' ', ',']).filter(|it| !it.is_empty()).collect();
    let at = words.iter().position(|word| *word == "used")?;
    let before = at.checked_sub(1).and_then(|at| words.get(at));
    let after = words.get(at + 1);
    after.and_then(|it| bytes(it)).or_else(|| bytes(before?))
}

/// Parses `4134K` or `26M`.
fn bytes(word: &str) -> Option<u64> {
    let units = [("K", 10), ("M", 20), ("G", 30), ("B", 0)];
    units.into_iter().find_map(|(unit, shift)| {
        let number: u64 = word.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(1 << shift)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_use_are_those_of_all_collectors() {
        let serial = " def new generation   total 116224K, used 4134K [0x0, 0x1, 0x2)\n  eden space 103360K,   4% used [0x0, 0x1, 0x2)\n tenured generation   total 258048K, used 6311K [0x0, 0x1, 0x2)\n Metaspace       used 137K, committed 384K, reserved 1114112K\n  class space    used 5K, committed 128K\n";
        let first = "garbage-first heap   total reserved 524288K, committed 27648K, used 7951K [0x0, 0x1)\n region size 1024K, 2 young (2048K)\n Metaspace used 1K";
        let z = " ZHeap           used 26M, capacity 378M, max capacity 512M\n Cache 350M (1)\n";
        let shenandoah = "Shenandoah Heap\n 512M max, 512M soft max, 6912K committed, 6790K used\nStatus: not cancelled\n";
        for (text, expected) in [
            (serial, Some((4_134 + 6_311) << 10)),
            (first, Some(7_951 << 10)),
            (z, Some(26 << 20)),
            (shenandoah, Some(6_790 << 10)),
            (" Metaspace used 137K", None),
            (
                "java.lang.IllegalArgumentException: Unknown diagnostic command",
                None,
            ),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
