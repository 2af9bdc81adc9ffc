//! The agent in a running JVM: the attach protocol, the commands, and the control channel.

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
