//! The interface `results`: tables with a plugin's results.

use plan_rules::Row;

use super::convert::{Answer, answer};
use crate::bindings::classhook::plugin::results::{Column, Host};
use crate::store_data::StoreData;

impl Host for StoreData {
    fn row(&mut self, table: String, columns: Vec<Column>, cells: Vec<String>) -> Answer<Vec<u8>> {
        let columns = columns.into_iter().map(|column| (column.name, column.kind));
        let row = Row::new(table, columns.collect(), cells);
        let transformation = self.transformation()?;
        answer(match row {
            Ok(row) => Ok(row.to_tag()),
            Err(refused) => Err(transformation.refuse(refused)),
        })
    }
}
