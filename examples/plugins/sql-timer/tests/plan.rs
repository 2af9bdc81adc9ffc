//! The plan and the report of the plugin, without a JVM.

use classhook_testkit::{Harness, Recording, java};
use sql_timer::{RUNS, SqlTimer};

#[test]
fn callers_of_jdbc_are_counted() {
    Harness::<SqlTimer>::default()
        .transform(include_bytes!("../program/Shop.class"))
        .assert_plan_file("tests/Shop.plan");
}

#[test]
fn statements_of_drivers_are_recorded_where_they_begin_and_end() {
    let driver = java! {"
        abstract class Driver implements java.sql.Statement {
            public boolean execute(String sql) {
                if (sql.isEmpty()) {
                    throw new IllegalArgumentException();
                }
                return true;
            }
            public boolean executeAll() { return true; }
            public int getMaxRows() { return 0; }
        }
    "};
    Harness::<SqlTimer>::default()
        .transform(driver.class("Driver"))
        .assert_plan_file("tests/Driver.plan");
}

#[test]
fn report_joins_the_start_and_the_end_of_each_call() {
    let recording = [
        ("D.execute", "begins", "select 1", ""),
        ("D.execute", "ends", "", ""),
        ("C.prepareStatement", "prepares", "insert ?", ""),
        ("C.prepareStatement", "ends", "", "P@1"),
        ("D.executeQuery", "begins", "select 2", ""),
        ("D.execute", "begins", "part of it", ""),
        ("D.execute", "ends", "", ""),
        ("D.executeQuery", "ends", "", ""),
        ("D.execute", "ends", "", ""),
        ("D.execute", "begins", "select 1", ""),
        ("D.execute", "ends", "", ""),
        ("P.execute", "begins", "", "P@1"),
        ("P.execute", "ends", "", ""),
        ("P.execute", "begins", "", "P@2"),
        ("P.execute", "ends", "", ""),
        ("D.execute", "begins", "never ends", ""),
    ]
    .into_iter()
    .fold(
        Recording::default(),
        |recording, (method, moment, text, of)| {
            let values = [("statement", text), ("prepared", of)];
            recording.event(&RUNS, &[method, moment], &values)
        },
    );
    Harness::<SqlTimer>::default()
        .report(&recording)
        .assert_table(
            "statements",
            "statement,count,total,longest\n?,1,1000,1000\ninsert ?,1,1000,1000\n\
             select 1,2,2000,1000\nselect 2,1,3000,3000\n",
        );
}
