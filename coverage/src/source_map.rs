//! Source maps of Kotlin (`SourceDebugExtension`, JVMS 4.7.11; JSR-45): class and line of inlined code.

use crate::class::ClassDescription;

/// A block of lines: `count` lines from `output` on correspond to those from `input` on in class `class`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mapping<'a> {
    pub(crate) class: &'a str,
    pub(crate) input: u32,
    pub(crate) count: u32,
    pub(crate) output: u32,
}

impl Mapping<'_> {
    /// Returns the original of `line`, if it is in this block.
    pub(crate) fn input_of(&self, line: u32) -> Option<u32> {
        let offset = line.checked_sub(self.output)?;
        (offset < self.count).then(|| self.input.saturating_add(offset))
    }

    /// Checks whether the lines are those of the class itself.
    fn is_own(&self, class: &ClassDescription<'_>) -> bool {
        self.class == class.name && self.input == self.output
    }
}

/// Returns the inlined blocks, in the order of the map; empty if the class is not from Kotlin.
pub(crate) fn foreign<'a>(class: &ClassDescription<'a>) -> Vec<Mapping<'a>> {
    let mut mappings = match class.source_debug_extension {
        Some(map) if class.is_kotlin() => mappings(map).unwrap_or_default(),
        _ => Vec::new(),
    };
    mappings.retain(|mapping| !mapping.is_own(class));
    mappings
}

/// Returns the first line number that is not a line of the class's source file.
pub(crate) fn first_foreign_line(class: &ClassDescription<'_>) -> Option<u32> {
    foreign(class).iter().map(|mapping| mapping.output).min()
}

/// Parses the mappings of the stratum `Kotlin`.
fn mappings(map: &str) -> Option<Vec<Mapping<'_>>> {
    let mut lines = map.lines().skip_while(|line| *line != "*S Kotlin");
    lines.next()?;
    let mut files = Vec::new();
    let mut lines = lines.skip_while(|line| *line != "*F").skip(1);
    let mut line = lines.next()?;
    while line != "*L" {
        let (id, _) = line.strip_prefix("+ ")?.split_once(' ')?;
        files.push((id, lines.next()?));
        line = lines.next()?;
    }
    let blocks = lines.take_while(|line| !line.starts_with('*'));
    blocks.map(|block| mapping(block, &files)).collect()
}

/// Parses `input#file,count:output`; `,count` is optional.
fn mapping<'a>(block: &str, files: &[(&str, &'a str)]) -> Option<Mapping<'a>> {
    let (input, output) = block.split_once(':')?;
    let (input, file) = input.split_once('#')?;
    let (file, count) = file.split_once(',').unwrap_or((file, "1"));
    let (_, class) = files.iter().find(|(id, _)| *id == file)?;
    Some(Mapping {
        class,
        input: input.parse().ok()?,
        count: count.parse().ok()?,
        output: output.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(map: &str) -> ClassDescription<'_> {
        ClassDescription {
            name: "p/Callsite",
            annotations: &["Lkotlin/Metadata;"],
            source_debug_extension: Some(map),
            ..Default::default()
        }
    }

    const MAP: &str = "SMAP\nexample.kt\nKotlin\n*S Kotlin\n*F\n+ 1 example.kt\np/Callsite\n+ 2 example.kt\n\
        p/ExampleKt\n*L\n1#1,9:1\n2#2:10\n7#2,3:11\n*S KotlinDebug\n*F\n+ 1 example.kt\np/Callsite\n*L\n6#1:10\n*E\n";

    #[test]
    fn lines_of_other_classes_are_foreign() {
        let class = class(MAP);
        let found = foreign(&class);
        let expected = [(2, 1, 10), (7, 3, 11)].map(|(input, count, output)| Mapping {
            class: "p/ExampleKt",
            input,
            count,
            output,
        });
        assert_eq!(found, expected);
        assert_eq!(first_foreign_line(&class), Some(10));
    }

    #[test]
    fn maps_of_other_languages_and_broken_maps_are_ignored() {
        for map in [
            "",
            "SMAP",
            "SMAP\na\nJSP\n*S JSP\n*F\n+ 0 a\na\n*L\n1#0:1\n*E",
            &MAP.replace("10", "x"),
        ] {
            assert_eq!(foreign(&class(map)), []);
        }
        let mut java = class(MAP);
        java.annotations = &[];
        assert_eq!(foreign(&java), []);
    }
}
