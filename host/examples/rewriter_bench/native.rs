//! Plans made without a plugin, as a program that links the rewriter makes them.

use coverage::flow::{Flow, FlowHandler, FlowInstruction, FlowLine, FlowMethod, Placement};
use jvms::opcode;
use rewriter::{
    Bci, CheckScratch, ClassFile, Code, EditPlan, InsertionPoint, Location, MethodIndex,
    ProbeStorage, Scratch, Tables, check_splice, fingerprint, splice,
};

const STORAGE: ProbeStorage<'static> = ProbeStorage::SharedArray {
    owner: "java/lang/$Classhook",
    field: "hits",
};
/// Probe numbers start again here, so that the largest class has room in one array.
const PROBES: u32 = 32_768;

/// What is inserted where.
#[derive(Clone, Copy)]
enum Task {
    Entry,
    EntryAndExits,
    Lines,
    Coverage,
}

/// All buffers that are lent from class to class.
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
    instructions: Vec<FlowInstruction>,
    switch_targets: Vec<u16>,
    switch_lengths: Vec<u32>,
    flow_lines: Vec<FlowLine>,
    handlers: Vec<FlowHandler>,
}

/// Reads, plans, splices and, if asked to, checks.
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
            other => panic!("expected entry, exits, lines, coverage or wasm, found {other}"),
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
            // JaCoCo takes the id of every class, and so does a snapshot.
            std::hint::black_box(fingerprint(class.bytes()));
        }
        for method in class.methods() {
            let Some(code) = method.code().ok()? else {
                continue;
            };
            match task {
                Task::Entry => self.hit(method.index(), Location::Entry)?,
                Task::EntryAndExits => self.entry_and_exits(method.index(), &code)?,
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

    fn entry_and_exits(&mut self, method: MethodIndex, code: &Code<'_, '_>) -> Option<()> {
        self.hit(method, Location::Entry)?;
        let mut exits = std::mem::take(&mut self.bcis);
        exits.clear();
        let visited = code.visit_instructions(|instruction| {
            if opcode::is_return(instruction.opcode) || instruction.opcode == opcode::ATHROW {
                exits.push(instruction.bci.0);
            }
        });
        visited.ok()?;
        for bci in &exits {
            self.hit(method, Location::Before(Bci(*bci)))?;
        }
        self.bcis = exits;
        Some(())
    }

    fn every_line(&mut self, method: MethodIndex, code: &Code<'_, '_>) -> Option<()> {
        let mut lines = std::mem::take(&mut self.bcis);
        lines.clear();
        lines.extend(code.lines().map(|line| line.bci.0));
        lines.sort_unstable();
        lines.dedup();
        for bci in &lines {
            self.hit(method, Location::Before(Bci(*bci)))?;
        }
        self.bcis = lines;
        Some(())
    }

    /// JaCoCo's probes; a method with subroutines gets none.
    fn coverage(&mut self, method: MethodIndex, code: &Code<'_, '_>) -> Option<()> {
        self.describe(code)?;
        let mut flow = std::mem::take(&mut self.flow);
        let placements = flow.place(&FlowMethod {
            instructions: &self.instructions,
            switch_targets: &self.switch_targets,
            switch_lengths: &self.switch_lengths,
            lines: &self.flow_lines,
            handlers: &self.handlers,
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

    /// The method as the flow sees it.
    fn describe(&mut self, code: &Code<'_, '_>) -> Option<()> {
        self.instructions.clear();
        self.switch_targets.clear();
        self.switch_lengths.clear();
        let Self {
            instructions,
            switch_targets,
            switch_lengths,
            ..
        } = self;
        let visited = code.visit_instructions(|instruction| {
            instructions.push(FlowInstruction {
                bci: instruction.bci.0,
                opcode: instruction.opcode,
                target: instruction.branch_target().map_or(0, |target| target.0),
            });
            if let Some(switch) = instruction.switch() {
                let before = switch_targets.len();
                switch_targets.extend(switch.targets().map(|target| target.0));
                switch_lengths.push((switch_targets.len() - before) as u32);
            }
        });
        visited.ok()?;
        self.flow_lines.clear();
        self.flow_lines.extend(code.lines().map(|line| FlowLine {
            bci: line.bci.0,
            number: line.number,
        }));
        self.handlers.clear();
        self.handlers
            .extend(code.exception_table().map(|row| FlowHandler {
                start: row.start.0,
                target: row.handler.0,
            }));
        Some(())
    }
}
