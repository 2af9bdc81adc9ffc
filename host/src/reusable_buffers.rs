//! Memory that is reused from class to class, so that most classes need hardly an allocation.

use plan_rules::{ClassMemory, PlanRequest};
use rewriter::EditPlan;

/// Maximum number of requests whose memory is kept.
const KEPT: usize = 4;

/// The reusable memory of the work on one class. After a failure, lost memory is allocated again.
#[derive(Default)]
pub(crate) struct ReusableBuffers {
    /// Memory of the class view.
    pub(crate) class: ClassMemory,
    /// Memory of the plugins' requests.
    pub(crate) requests: Vec<PlanRequest>,
    /// Memory of the merged plan.
    pub(crate) plan: EditPlan,
    /// Memory of the name of the class with the probe array.
    pub(crate) owner: String,
}

impl ReusableBuffers {
    /// Takes the memory of a finished request.
    pub(crate) fn take_request(&mut self, mut request: PlanRequest) {
        if self.requests.len() < KEPT {
            request.clear();
            self.requests.push(request);
        }
    }
}
