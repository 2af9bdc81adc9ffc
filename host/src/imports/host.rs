//! The interface `host`: log lines.

use wasmtime::Result;

use crate::bindings::classhook::plugin::host::{Host, Level};
use crate::store_data::StoreData;

impl Host for StoreData {
    fn log(&mut self, level: Level, message: String) -> Result<()> {
        self.log(level, message);
        Ok(())
    }

    fn log_enabled(&mut self, level: Level) -> Result<bool> {
        Ok(self.keeps(level))
    }
}
