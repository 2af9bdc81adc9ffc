//! Groups paths by kind. Paths that differ only in array indices, or in the number of passes
//! through the same classes, are of one kind.

use std::collections::{BTreeSet, HashMap};

/// A reference of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The class of the referring object, or the declaring class of a static field.
    pub holder: String,
    /// The reference without the index of an array: `java.util.HashMap$Node.next`, `java.lang.Object[…]`.
    pub kind: String,
    /// The reference with the index.
    pub text: String,
}

/// A single reference, or a run of references that leads through the same classes repeatedly.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    /// The distinct references, sorted by name.
    kind: String,
    text: String,
    /// Number of distinct references.
    kinds: usize,
    references: usize,
}

/// Number of objects of one class that makes a path repetitive.
const REPEATED: usize = 3;

/// Folds a path to an instance of the class `end`. All references from the first to the last object
/// of the same class form one run. Two objects form a run only if one refers to the other.
fn fold(steps: &[Step], end: &str) -> Vec<Run> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    let holders = steps.iter().map(|step| step.holder.as_str());
    for (at, holder) in holders.chain([end]).enumerate() {
        places.entry(holder).or_default().push(at);
    }
    let last = |step: &Step| match places.get(step.holder.as_str()).map(Vec::as_slice) {
        Some([first, second]) if first + 1 == *second => *second,
        Some(places @ [.., last]) if places.len() >= REPEATED => *last,
        _ => 0,
    };
    let (mut runs, mut at) = (Vec::new(), 0);
    while let Some(step) = steps.get(at) {
        // A run becomes longer if a class within it occurs again behind it.
        let (mut behind, mut next) = (last(step).max(at), at);
        while next < behind {
            behind = behind.max(steps.get(next).map_or(0, last));
            next += 1;
        }
        let behind = behind.clamp(at + 1, steps.len());
        runs.push(Run::of(&steps[at..behind]));
        at = behind;
    }
    runs
}

impl Run {
    fn of(steps: &[Step]) -> Self {
        let kinds: BTreeSet<&str> = steps.iter().map(|step| step.kind.as_str()).collect();
        let count = kinds.len();
        let kind = kinds.into_iter().collect::<Vec<_>>().join(" or ");
        let text = match steps {
            [step] => step.text.clone(),
            _ => kind.clone(),
        };
        Self {
            kind,
            text,
            kinds: count,
            references: steps.len(),
        }
    }

    /// Formats the run with the minimum and maximum number of references in the paths of its kind.
    fn shown(&self, (least, most): (usize, usize)) -> String {
        let kind = &self.kind;
        let unit = match self.kinds {
            1 => "times",
            _ => "references",
        };
        match (least, most) {
            (_, 1) => self.text.clone(),
            (least, most) if least == most => format!("{kind}, {most} {unit}"),
            (least, most) => format!("{kind}, {least} to {most} {unit}"),
        }
    }
}

/// Paths of one kind.
struct PathGroup {
    instances: u64,
    /// The runs of the first path.
    example: Vec<Run>,
    /// Minimum and maximum number of references in each run.
    ranges: Vec<(usize, usize)>,
}

/// The paths by kind.
#[derive(Default)]
pub struct PathKinds(HashMap<(Option<String>, Vec<String>, String), PathGroup>);

impl PathKinds {
    /// Adds a path from a root, if the root has a name, to an instance of class `end`.
    pub fn add(&mut self, root: Option<String>, steps: &[Step], end: &str) {
        let runs = fold(steps, end);
        let kinds = runs.iter().map(|run| run.kind.clone()).collect();
        let key = (root, kinds, end.to_owned());
        let group = self.0.entry(key).or_insert_with(|| PathGroup {
            instances: 0,
            ranges: runs.iter().map(|run| (run.references, 0)).collect(),
            example: runs.clone(),
        });
        group.instances += 1;
        for ((least, most), run) in group.ranges.iter_mut().zip(&runs) {
            *least = run.references.min(*least);
            *most = run.references.max(*most);
        }
    }

    /// Returns the number of instances and the steps of each kind, sorted by descending number.
    #[must_use]
    pub fn into_sorted(self) -> Vec<(u64, Vec<String>)> {
        let kind = |((root, _, end), group): ((Option<String>, _, String), PathGroup)| {
            let runs = group.example.iter().zip(&group.ranges);
            let runs = runs.map(|(run, range)| run.shown(*range));
            let steps = root.into_iter().chain(runs).chain([end]);
            (group.instances, steps.collect::<Vec<_>>())
        };
        let mut kinds: Vec<_> = self.0.into_iter().map(kind).collect();
        kinds.sort_by(|(one, left), (other, right)| other.cmp(one).then_with(|| left.cmp(right)));
        kinds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reference as `Class.field`, or as `Class[index]` for an array.
    fn step(text: &str) -> Step {
        let (holder, kind) = match (text.split_once('['), text.split_once('.')) {
            (Some((class, _)), _) => (format!("{class}[]"), format!("{class}[…]")),
            (_, Some((class, _))) => (class.to_owned(), text.to_owned()),
            _ => panic!("{text}"),
        };
        Step {
            holder,
            kind,
            text: text.to_owned(),
        }
    }

    /// The kinds of paths of the form `Class.field … Class`.
    fn kinds(paths: &[String]) -> Vec<(u64, String)> {
        let mut kinds = PathKinds::default();
        for path in paths {
            let (steps, end) = path.rsplit_once(' ').expect("a step and a class");
            let steps: Vec<Step> = steps.split(' ').map(step).collect();
            kinds.add(Some("root".to_owned()), &steps, end);
        }
        let kinds = kinds.into_sorted().into_iter();
        let joined = kinds.map(|(instances, steps)| (instances, steps[1..].join(" | ")));
        joined.collect()
    }

    #[test]
    fn list_of_any_length_is_one_kind() {
        let list = |length: usize| format!("List.head {}Node", "Node.next ".repeat(length));
        let found = kinds(&(0..1_000).map(list).collect::<Vec<_>>());
        let expected = [
            (
                999,
                "List.head | Node.next, 1 to 999 times | Node".to_owned(),
            ),
            (1, "List.head | Node".to_owned()),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn values_in_a_list_and_in_a_tree_are_of_one_kind_each() {
        let paths = [
            "L.head N.next N.next N.item V",
            "L.head N.next N.next N.next N.item V",
            "T.root E.left E.right E.left E.value V",
            "T.root E.right E.right E.left E.right E.value V",
        ];
        let found = kinds(&paths.map(str::to_owned));
        let expected = [
            (2, "L.head | N.next, 2 to 3 times | N.item | V".to_owned()),
            (
                2,
                "T.root | E.left or E.right, 3 to 4 references | E.value | V".to_owned(),
            ),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn nested_structures_are_folded_by_all_their_classes() {
        let paths = [
            "M.table O[3] E.value M.table O[9] E.value M.table O[1] E.value V",
            "M.table O[7] E.value V",
        ];
        let found = kinds(&paths.map(str::to_owned));
        let expected = [
            (
                1,
                "E.value or M.table or O[…], 8 references | E.value | V".to_owned(),
            ),
            (1, "M.table | O[7] | E.value | V".to_owned()),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn runs_that_overlap_are_one() {
        let found = kinds(&["A.x B.x A.y B.y A.x C.x B.z D.x V".to_owned()]);
        let expected = "A.x or A.y or B.x or B.y or C.x, 6 references | B.z | D.x | V";
        assert_eq!(found[0].1, expected);
    }

    #[test]
    fn two_objects_of_a_class_are_not_a_run() {
        let found = kinds(&["S.other B.content O[7] B.content V".to_owned()]);
        assert_eq!(found[0].1, "S.other | B.content | O[7] | B.content | V");
    }
}
