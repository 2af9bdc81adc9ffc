//! The input of a filter.

use super::nodes::Nodes;
use super::output::FilterOutput;
use crate::class::{ClassDescription, CodeDescription, MethodDescription};
use crate::flow::Labels;

/// The method that a filter examines, and its class.
pub(crate) struct FilterContext<'a> {
    pub(crate) class: &'a ClassDescription<'a>,
    pub(crate) method: &'a MethodDescription<'a>,
    pub(crate) code: &'a CodeDescription<'a>,
    pub(crate) nodes: &'a Nodes<'a>,
    /// The labels of the code, which number the branches. `None` for a filter that runs alone.
    pub(crate) labels: Option<&'a Labels>,
}

impl FilterContext<'_> {
    /// Leaves out all instructions of the method.
    pub(crate) fn ignore_all(&self, output: &mut FilterOutput) {
        output.ignore(self.nodes, 0, self.nodes.len().saturating_sub(1));
    }

    /// Checks for the direct superclass.
    pub(crate) fn is_super(&self, name: &str) -> bool {
        self.class.super_name == Some(name)
    }

    /// Checks for an annotation of the method by its descriptor.
    pub(crate) fn is_annotated(&self, descriptor: &str) -> bool {
        let mut annotations = self.method.annotations.iter();
        annotations.any(|annotation| *annotation == descriptor)
    }

    /// Checks for name and descriptor of the method.
    pub(crate) fn is(&self, name: &str, descriptor: &str) -> bool {
        self.method.name == name && self.method.descriptor == descriptor
    }
}
