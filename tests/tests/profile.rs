//! What JVMs say of themselves: programs that know their own numbers, and JVMs that are running.

mod beside;
mod flight_recorder;
mod heap;
mod plugins;
mod rare;
mod recording;
mod references;
mod running_jvm;
mod wall;
mod wire;
