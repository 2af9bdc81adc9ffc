//! Marker types for the resources of `sdk/wit/plugin.wit` that the host represents by an index.

/// Stands for the resource `class-view`.
pub struct ClassHandle;
/// Stands for the resource `method-view`.
pub struct MethodHandle;
/// Stands for the resource `plan`.
pub struct PlanHandle;
