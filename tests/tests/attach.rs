//! The agent in a JVM that is running: the protocol, the commands, and the channel to it.

mod agent;
mod application;
mod class_details;
mod command;
mod containers;
mod control_channel;
mod other_users;
mod protocol;
mod reflection;
mod side_by_side;
mod wide;
