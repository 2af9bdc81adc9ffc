//! What JVMs say of themselves: programs that know their own numbers, and JVMs that are running.

mod heap;
mod plugins;
mod recording;
mod running_jvm;
