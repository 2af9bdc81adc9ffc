//! Code that tests of several jobs share.

pub mod advice;
pub mod agent;
pub mod command;
pub mod documents;
pub mod edited;
pub mod encrypted;
pub mod files;
pub mod leftovers;
pub mod projects;
pub mod receiver;
pub mod traced;
pub mod users;
