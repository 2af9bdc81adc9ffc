//! Plans computed without a plugin, as in a program that links the rewriter.

use coverage::flow::{Flow, FlowMethod, Placement};
use rewriter::{
    Bci, CheckScratch, ClassFile, Code, EditPlan, InsertionPoint, Location, Method, MethodIndex,
    ProbeStorage, Scratch, Tables, check_splice, splice,
};

const STORAGE: ProbeStorage<'static> = ProbeStorage::SharedArray {
    owner: "java/lang/$Classhook",
    field: "hits",
};
/// Probe numbers restart here, so that the largest class fits into one array.
const PROBES: u32 = 32_768;

/// The probes to insert.
#[derive(Clone, Copy)]
enum Task {
    Entry,
    EntryAndExits,
    Lines,
    Coverage,
}

/// Buffers that are reused from class to class.
#[derive(Default)]
struct Buffers {
    plan: EditPlan,
    scratch: Scratch,
    check_scratch: CheckScratch,
    tables: Tables,
    out: Vec<u8>,
    /// Bcis of a method's probes.
    bcis: Vec<u16>,
    flow: Flow,
    /// The lines of a method.
    lines: Vec<[u8; 4]>,
}

/// Reads, plans and splices classes, and checks them if requested.
pub struct Worker {
    task: Task,
    check: bool,
    buffers: Buffers,
}

impl Worker {
    pub fn new(task: &str, check: bool) -> Self {
        let task = match task {
            "entry" => Task::Entry,
            "exits" => Task::EntryAndExits,
            "lines" => Task::Lines,
            "coverage" => Task::Coverage,
            other => panic!("expected entry, exits, lines, coverage or plugin=…, found {other}"),
        };
        Self {
            task,
            check,
            buffers: Buffers::default(),
        }
    }
}

impl crate::Worker for Worker {
    fn class(&mut self, bytes: &[u8]) -> Option<usize> {
        let buffers = &mut self.buffers;
        let class = ClassFile::read_with(bytes, std::mem::take(&mut buffers.tables)).ok()?;
        let length = buffers.rewrite(&class, self.task, self.check);
        buffers.tables = class.into_tables();
        length
    }
}

impl Buffers {
    fn rewrite(&mut self, class: &ClassFile<'_>, task: Task, check: bool) -> Option<usize> {
        self.plan.clear();
        if matches!(task, Task::Coverage) {
            // Every class needs its JaCoCo id, in JaCoCo and in a snapshot.
            std::hint::black_box(fingerprint::of(class.bytes()));
        }
        for method in class.methods() {
            let Some(code) = method.code().ok()? else {
                continue;
            };
            match task {
                Task::Entry => self.hit(method.index(), Location::Entry)?,
                Task::EntryAndExits => self.entry_and_exits(&method)?,
                Task::Lines => self.every_line(method.index(), &code)?,
                Task::Coverage => self.coverage(method.index(), &code)?,
            }
        }
        let Self {
            plan,
            scratch,
            check_scratch,
            out,
            ..
        } = self;
        splice(class, plan, &STORAGE, scratch, out).ok()?;
        if check {
            check_splice(class, plan, &STORAGE, out, check_scratch).ok()?;
        }
        Some(out.len())
    }

    fn hit(&mut self, method: MethodIndex, place: Location) -> Option<()> {
        let probe = self.plan.edits().len() as u32 % PROBES;
        self.plan
            .hit(
                InsertionPoint {
                    method,
                    location: place,
                },
                probe,
            )
            .ok()
    }

    fn entry_and_exits(&mut self, method: &Method<'_, '_>) -> Option<()> {
        self.hit(method.index(), Location::Entry)?;
        for bci in method.exits().ok()? {
            self.hit(method.index(), Location::Before(bci))?;
        }
        Some(())
    }

    fn every_line(&mut self, method: MethodIndex, code: &Code<'_, '_>) -> Option<()> {
        let mut lines = std::mem::take(&mut self.bcis);
        lines.clear();
        for rows in code.line_rows() {
            let bcis = rows
                .iter()
                .map(|[high, low, ..]| u16::from_be_bytes([*high, *low]));
            lines.extend(bcis);
        }
        lines.sort_unstable();
        lines.dedup();
        for bci in &lines {
            self.hit(method, Location::Before(Bci(*bci)))?;
        }
        self.bcis = lines;
        Some(())
    }

    /// Inserts JaCoCo's probes; a method with subroutines gets none.
    fn coverage(&mut self, method: MethodIndex, code: &Code<'_, '_>) -> Option<()> {
        self.lines.clear();
        for rows in code.line_rows() {
            self.lines.extend_from_slice(rows);
        }
        let mut flow = std::mem::take(&mut self.flow);
        let placements = flow.place(&FlowMethod {
            code: code.bytes(),
            lines: &self.lines,
            handlers: code.exception_rows(),
        });
        for placement in placements.unwrap_or_default() {
            let place = match *placement {
                Placement::FallThrough(bci) => Location::FallThrough(Bci(bci)),
                Placement::Before(bci) => Location::Before(Bci(bci)),
                Placement::Jump { source, target } => Location::Jump {
                    source: Bci(source),
                    target: Bci(target),
                },
            };
            self.hit(method, place)?;
        }
        self.flow = flow;
        Some(())
    }
}
