//! The agent from a JVM's start: loading, life cycle, output, and other agents beside it.

mod archives;
mod beside_others;
mod check_jni;
mod durability;
mod edge_releases;
mod generated_visits;
mod hit_calls;
mod huge_methods;
mod library;
mod lifecycle;
mod loading;
mod monitors;
mod unlinked_classes;
