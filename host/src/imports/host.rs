//! The interface `host`: log lines.

use wasmtime::Result;

use crate::bindings::classhook::plugin::host::Host;
use crate::store_data::StoreData;

impl Host for StoreData {
    fn log(&mut self, level: u8, message: String) -> Result<()> {
        self.log(level, message);
        Ok(())
    }

    fn log_enabled(&mut self, level: u8) -> Result<bool> {
        Ok(self.keeps(level))
    }
}
