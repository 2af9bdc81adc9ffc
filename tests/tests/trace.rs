//! Traces of calls: complete, in order, with the captured values.

mod absent;
mod command;
mod conditions;
mod coroutines;
mod exactness;
mod jdk_classes;
mod lines;
mod live;
mod load;
mod native_methods;
mod opened;
mod otlp;
mod outputs;
mod overflow;
mod selection;
mod sessions;
mod size_limit;
mod slow;
mod spans;
mod tasks;
mod top;
mod watch;
mod writes;
