//! Events of JVMs: programs that count their own events, and running JVMs.

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
