//! Options for advice in Java.

use std::ffi::OsString;
use std::path::PathBuf;

use advice::files::{self, PreparedFile};
use agent_launch::settings::Settings;
use clap::Args;
use errors::Error;
use java_compiler::program_compiler::{Chosen, Program};

use crate::heading;

/// Help of `--advice-class-path`.
pub const CLASS_PATH: &str = "Compile the advice on this class path, not on the program's";
/// Help of `--advice-release`.
pub const RELEASE: &str = "Compile the advice for this release of Java [default: that of the program's JVM; without one 8]";
/// Help of `--advice-setting`.
pub const SETTING: &str =
    "Set this field of the advice with @Setting: NAME=VALUE or CLASS.NAME=VALUE; repeatable";

/// Advice in Java.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::PLUGINS)]
pub struct AdviceArguments {
    /// Run the advice in this Java source, class file or jar; with the plugins of --plugin alone; repeatable
    #[arg(long = "advice", value_name = "FILE")]
    pub advice_files: Vec<PathBuf>,
    /// The class path for the compiler.
    #[arg(long, value_name = "PATH", requires = "advice_files", help = CLASS_PATH)]
    pub advice_class_path: Option<OsString>,
    /// The release for the compiler.
    #[arg(long, value_name = "NUMBER", requires = "advice_files", help = RELEASE)]
    pub advice_release: Option<u16>,
    /// Values of fields.
    #[arg(long, value_name = "NAME=VALUE", requires = "advice_files", help = SETTING)]
    pub advice_setting: Vec<String>,
}

impl AdviceArguments {
    /// Checks whether there is advice.
    #[must_use]
    pub fn is_given(&self) -> bool {
        !self.advice_files.is_empty()
    }

    /// Compiles the advice and adds it to the settings. The file must live as long as an agent may
    /// read it.
    ///
    /// # Errors
    /// As [`files::prepare`].
    pub fn add_to(
        &self,
        settings: &mut Settings,
        program: Program<'_>,
    ) -> Result<Option<PreparedFile>, Error> {
        if !self.is_given() {
            return Ok(None);
        }
        let chosen = Chosen {
            class_path: self.advice_class_path.clone(),
            release: self.advice_release,
        };
        let prepared = files::prepare(&self.advice_files, program, &chosen, &self.advice_setting)?;
        settings.change.configuration.advice = Some(prepared.path().to_owned());
        Ok(Some(prepared))
    }
}
