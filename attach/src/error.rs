//! Errors of attaching to a JVM, each with a stable code and help.

use errors::codes;

use std::io;

/// The signal that makes a JVM open its socket. Messages name it like a command.
pub(crate) const SIGQUIT: &str = "SIGQUIT";

/// A failure to attach. `code()` is stable; `help()` is advice for the user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// `/proc/PID` does not exist.
    #[error("no process has the pid {0}")]
    NoProcess(i32),
    /// The number is the id of a thread.
    #[error("{thread} is a thread of the process {process}")]
    Thread {
        /// The thread id that the caller passed.
        thread: i32,
        /// Its process.
        process: i32,
    },
    /// The process has not mapped `libjvm.so`.
    #[error("process {0} is no JVM: it has not mapped libjvm.so")]
    NotJvm(i32),
    /// The process belongs to another user.
    #[error("process {pid} belongs to user {owner}, we are user {ours}")]
    OtherUser {
        /// The pid that the caller passed.
        pid: i32,
        /// Its effective user id.
        owner: u32,
        /// Our effective user id.
        ours: u32,
    },
    /// The `/tmp` of the JVM, in which HotSpot opens its socket, is missing or read-only.
    #[error("the JVM {pid} cannot open its socket: its /tmp is {found}")]
    NoTmp {
        /// The pid of the JVM.
        pid: i32,
        /// The state of the folder: missing or read-only.
        found: &'static str,
    },
    /// No folder of the JVM's file system can hold a file that the JVM is to execute.
    #[error(
        "the JVM {pid} sees another file system, and no folder in it can hold the agent: {tried}"
    )]
    NoPlace {
        /// The pid of the JVM.
        pid: i32,
        /// The folders, each with the reason why it cannot hold the file.
        tried: String,
    },
    /// The C library of the JVM is musl.
    #[error("the JVM {0} runs on musl, and this agent was built for glibc alone")]
    Musl(i32),
    /// A signal or a debugger has stopped the JVM.
    #[error("the JVM {0} is stopped and does not answer")]
    Stopped(i32),
    /// A signal or a debugger has stopped the JVM after a command was sent.
    #[error("the JVM {pid} was stopped before it answered `{command}`")]
    StoppedMeanwhile {
        /// The pid of the JVM.
        pid: i32,
        /// The command.
        command: String,
    },
    /// The JVM has a capability that this process lacks, so the system hides its files, and it has other mounts.
    #[error("the files of the JVM {0} are hidden: it has a capability that this user lacks")]
    Hidden(i32),
    /// The JVM cannot open as many more files as the command needs.
    #[error(
        "the JVM {pid} has too few free file descriptors: {open} of {limit} are open, up to {needed} more are needed"
    )]
    NoDescriptors {
        /// The pid of the JVM.
        pid: i32,
        /// The number of its open file descriptors.
        open: u64,
        /// The soft limit of this number.
        limit: u64,
        /// The number of further descriptors that the command needs.
        needed: u64,
    },
    /// The JVM runs with `-XX:+DisableAttachMechanism`, or the application handles SIGQUIT.
    #[error("the JVM {0} does not accept attaching")]
    Disabled(i32),
    /// The attach listener did not open its socket.
    #[error("the JVM {pid} did not open {socket} within {seconds} s")]
    NoAnswer {
        /// The pid of the JVM.
        pid: i32,
        /// The path of the expected socket, in the JVM's file system.
        socket: String,
        /// Seconds waited.
        seconds: u64,
    },
    /// The JVM did not answer a command that it had accepted.
    #[error("the JVM {pid} did not answer `{command}` within {seconds} s")]
    Silent {
        /// The pid of the JVM.
        pid: i32,
        /// The command.
        command: String,
        /// Seconds waited.
        seconds: u64,
    },
    /// An argument is longer than the 1,024 bytes of protocol version 1.
    #[error("an argument has {length} bytes, and this JVM's attach protocol takes at most {limit}")]
    ArgumentTooLong {
        /// The length of the argument, in bytes.
        length: usize,
        /// The limit of the protocol, in bytes.
        limit: usize,
    },
    /// The JVM refused the command.
    #[error("the JVM refused `{command}`: {answer}")]
    Refused {
        /// The attach command.
        command: String,
        /// The JVM's message.
        answer: String,
    },
    /// The library was loaded, but its `Agent_OnAttach` did not return 0.
    #[error("Agent_OnAttach returned {0}")]
    AgentFailed(i32),
    /// A system call failed.
    #[error("{what}: {source}")]
    Io {
        /// The step that failed.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

impl AttachError {
    /// The stable code of this kind of failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            AttachError::NoProcess(_) | AttachError::Thread { .. } => codes::H0501,
            AttachError::NotJvm(_) => codes::H0502,
            AttachError::OtherUser { .. } => codes::H0503,
            AttachError::Disabled(_) => codes::H0504,
            AttachError::NoAnswer { .. } | AttachError::Silent { .. } => codes::H0505,
            AttachError::ArgumentTooLong { .. } => codes::H0506,
            AttachError::Refused { .. } => codes::H0507,
            AttachError::AgentFailed(_) => codes::H0508,
            AttachError::Io { .. } => codes::H0509,
            AttachError::Stopped(_) | AttachError::StoppedMeanwhile { .. } => codes::H0510,
            AttachError::NoTmp { .. } => codes::H0511,
            AttachError::NoPlace { .. } => codes::H0512,
            AttachError::Musl(_) => codes::H0513,
            AttachError::NoDescriptors { .. } => codes::H0515,
            AttachError::Hidden(_) => codes::H0516,
        }
    }

    /// Advice for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            AttachError::NoProcess(_) => "`classhook ps` lists the JVMs of this machine",
            AttachError::Thread { .. } => "name the process",
            AttachError::NotJvm(_) => {
                "`classhook ps` lists the JVMs of this machine; a launcher script is not the JVM it started"
            }
            AttachError::OtherUser { .. } => "run this command as that user, or as root",
            AttachError::Disabled(_) => {
                "start the JVM without -XX:+DisableAttachMechanism, or load the agent at its start (classhook run)"
            }
            AttachError::Hidden(_) => "run this command as root",
            AttachError::NoDescriptors { .. } => {
                "the program may leak files or sockets (ls -l /proc/PID/fd); raise its limit (prlimit --pid PID --nofile=NUMBER) and try again"
            }
            AttachError::NoAnswer { .. } => {
                "the JVM may be out of memory, or in a very long pause; check it and try again"
            }
            AttachError::Silent { .. } => {
                "it carries out the command once its pause ends. Then `classhook status` shows whether the agent is loaded, and `classhook off` removes it"
            }
            AttachError::ArgumentTooLong { .. } => {
                "write the options to a classhook.toml and pass config=FILE"
            }
            AttachError::Refused { .. } => {
                "if the message is \"Dynamic agent loading is not enabled\", start the JVM with -XX:+EnableDynamicAgentLoading"
            }
            AttachError::AgentFailed(_) => "the agent's own message is on the JVM's standard error",
            AttachError::NoTmp { .. } => {
                "mount a folder that the JVM's user can write to at /tmp; in a container, an emptyDir or tmpfs. Or load the agent at its start (classhook run)"
            }
            AttachError::NoPlace { .. } => {
                "mount a folder there that the JVM's user can write to, without noexec; in a container, an emptyDir or tmpfs. Or load the agent at its start from an image that has it"
            }
            AttachError::Musl(_) => {
                "take command and agent from Classhook's archive, which run on both C libraries, or run the program on an image with glibc (Debian, Ubuntu, UBI)"
            }
            AttachError::Stopped(_) => {
                "no command was sent to it; resume it (kill -CONT, or the debugger that holds it) and try again"
            }
            AttachError::StoppedMeanwhile { command, .. } if command == SIGQUIT => {
                "resume it (kill -CONT, or the debugger that holds it): it then prints its threads to its standard output, because of SIGQUIT. Then try again"
            }
            AttachError::StoppedMeanwhile { .. } => {
                "it carries out the command once it is resumed (kill -CONT, or the debugger that holds it). Then `classhook status` shows whether the agent is loaded, and `classhook off` removes it"
            }
            AttachError::Io { .. } => "see the system's message",
        }
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> AttachError {
        let what = what.into();
        move |source| AttachError::Io { what, source }
    }
}

impl From<AttachError> for errors::Error {
    /// Adds the help.
    fn from(error: AttachError) -> Self {
        Self::mistake(error.code(), error.to_string()).with("help", error.help())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_for_a_stopped_jvm_names_the_effect_of_a_pending_signal() {
        let help = |command: &str| {
            let command = command.to_owned();
            AttachError::StoppedMeanwhile { pid: 1, command }.help()
        };
        assert!(help(SIGQUIT).contains("prints its threads"));
        assert!(help("load").contains("carries out the command"));
    }
}
