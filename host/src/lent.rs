//! Memory that one class lends to the next, so that most classes cost hardly an allocation.

use plan_rules::{ClassMemory, PlanRequest};
use rewriter::EditPlan;

/// Most requests whose memory is kept.
const KEPT: usize = 4;

/// What the work on one class leaves for the next; what is lost to a failure is made anew.
#[derive(Default)]
pub(crate) struct LentMemory {
    /// Of the class that plugins are shown.
    pub(crate) class: ClassMemory,
    /// Of what single plugins ask for.
    pub(crate) requests: Vec<PlanRequest>,
    /// Of the plan of all plugins.
    pub(crate) plan: EditPlan,
    /// Of the name of the class that has the array of the probes.
    pub(crate) owner: String,
}

impl LentMemory {
    /// Takes the memory of a request that is done with.
    pub(crate) fn take_request(&mut self, mut request: PlanRequest) {
        if self.requests.len() < KEPT {
            request.clear();
            self.requests.push(request);
        }
    }
}
