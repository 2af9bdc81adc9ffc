//! The agent in a JVM from its start: loading, life cycle, what it leaves, and other agents beside it.

mod archives;
mod beside_others;
mod check_jni;
mod durability;
mod edge_releases;
mod huge_methods;
mod library;
mod lifecycle;
mod loading;
mod monitors;
mod self_removal;
mod unlinked_classes;
