//! A constant for each code, and all codes in order.

use crate::code::ErrorCode;

/// Makes the constants and [`ALL`] of rows: code, exit statuses, meaning, and the remedy if it is one for all messages.
macro_rules! table {
    ($($code:ident $statuses:tt $meaning:literal $(=> $remedy:literal)?;)*) => {
        $(
            #[doc = $meaning]
            pub const $code: &str = stringify!($code);
        )*

        /// All codes, in ascending order.
        pub const ALL: &[ErrorCode] = &[$(ErrorCode {
            code: $code,
            statuses: &$statuses,
            meaning: $meaning,
            remedy: concat!($($remedy)?),
        }),*];
    };
}

table! {
    // H01xx: configuration and plugin files
    H0101 [2]
        "this build lacks the bundled plugins, or their code"
        => "build it with `cargo xtask build`";
    H0102 [2]
        "the configuration file cannot be read"
        => "check the path, relative to where the JVM is started";
    H0103 [2]
        "the configuration file is not valid TOML"
        => "the message names line and column";
    H0104 [2]
        "a key that does not exist"
        => "the message names those that do, and the nearest";
    H0105 [2]
        "a value that a key or option cannot have"
        => "the message names those that it can";
    H0106 [2]
        "a plugin's file is no regular file, cannot be read, is damaged, or is no WebAssembly component"
        => "name a component; a core module is wrapped with the linker `wasm-component-ld`";
    H0107 [2]
        "the plugin needs an interface or function this agent does not have"
        => "upgrade the agent, or build the plugin with the SDK of its version";
    H0108 [2]
        "the file is a component, but no plugin for this agent"
        => "export a `Transformer` with `classhook_sdk::export!`";
    H0109 [2]
        "the plugin's file does not have the pinned or locked digest"
        => "if you want the change, pin the digest found; `classhook plugin add` fetches the locked file again";
    H0110 [2]
        "a selector that makes no sense"
        => "see the table of selectors in [options](options.md)";
    H0111 [2]
        "the plugin rejects its configuration"
        => "correct `[plugin.config]`; the cause is the plugin's own text";
    H0112 [2]
        "the plugin failed while it was configured"
        => "the cause says how; report it to the plugin's author";
    H0113 [2]
        "an agent option that does not exist"
        => "the message names the nearest; `help` lists all";
    H0114 [2]
        "the agent's option string cannot be read: an escape or a value is missing"
        => "write `\\,` for a comma and `\\\\` for a backslash in a value";
    H0115 [2]
        "a condition, or a list of values to show, cannot be read"
        => "the carets mark the place; see [conditions](conditions.md)";
    H0116 [2]
        "a plugin must be compiled, and the command `classhook` is not found, is of another version, or does not answer"
        => "put it beside the agent's library, name it with the agent's option `compiler=FILE`, or run `classhook compile-plugin` before";
    H0117 [2]
        "a plugin is beyond a [limit](options.md#compiling-plugins) of its size, functions, locals, or of the time and memory that compiling it may take"
        => "the message names limit and plugin; make the plugin smaller";
    H0118 [2]
        "`classhook.lock` cannot be read, is damaged, or of a newer version"
        => "take it from your version control, or remove it and add the plugins again";

    // H02xx: capabilities
    H0201 [2]
        "a capability that does not exist"
        => "the message names those that do";
    H0203 [2]
        "the plugin asks for more than it was granted"
        => "grant the capability if you trust the plugin with it: `--grant NAME`, or in `grant` of `classhook.toml`";

    // H03xx: one class, while the program runs
    H0301 []
        "the class file cannot be read"
        => "if the JVM loads the class, report it to us";
    H0302 []
        "the edits cannot be made"
        => "report it to us, with the class";
    H0303 []
        "the edited class did not pass the self-check"
        => "report it to us, with the class";
    H0304 []
        "there is no room for the class's probes, or two plugins want an edit that is possible once only, such as another class file: the first in the configuration wins"
        => "select fewer classes, since a class has at most 65,536 probes; let one plugin alone have the class; or, for an exchanged plugin that wants more of a class than before, `classhook off` and `classhook attach`";
    H0305 [2]
        "a fault of ours while the class was transformed"
        => "report it to us, with the cause";
    H0306 []
        "`classhook instrument`: the plugin asks for counts, spans or events, which need the agent"
        => "run the program with the agent instead";
    H0307 []
        "a method cannot be recorded as a span, or a place of it as an event"
        => "select other methods; the class has no edits of this plugin";
    H0308 []
        "the members, names or annotations that plugins give the class do not go together, or have no room in it: the first in the configuration has its own"
        => "the cause says which; let one plugin alone have the class";
    H0311 []
        "the plugin panicked or trapped"
        => "the cause holds its text and place; report it to the plugin's author";
    H0312 []
        "the plugin used more than 250 ms of CPU time for one class"
        => "look for a loop in the plugin that does not end";
    H0313 []
        "the plugin asked for more than 64 MiB of memory, the host's memory for it included, or for more than 131,072 handles at once"
        => "keep less in the plugin, and drop used snippets and annotations";
    H0314 []
        "the plugin's stack is full"
        => "look for a function in the plugin that calls itself; an access out of bounds for another reason is H0311";
    H0315 []
        "the plugin asked for more than one class may have: edits, code or tags"
        => "let it instrument fewer locations of large classes";
    H0316 []
        "the plugin returned an error"
        => "the cause is its own text";
    H0317 []
        "the plugin asked for an edit that cannot be, or gave a class file that cannot take the place of the class"
        => "the message names method and bci; report it to the plugin's author";
    H0318 []
        "the plugin took too long for all classes together, and is switched off"
        => "look at fewer classes, or do less for each; `classhook enable` gives it another chance";
    H0319 []
        "the JVM does not define a class that the plugin brings"
        => "the cause is the JVM's: compile the class for an older release if the JVM does not know the version, and check that its supertypes exist";

    // H04xx: the agent in the JVM
    H0401 []
        "the JVM is older than 8";
    H0402 []
        "the JVM refuses something that the agent needs";
    H0403 []
        "the agent, or another copy of it, is in this JVM already";
    H0404 []
        "the output folder, or the snapshot in it, cannot be made";
    H0405 []
        "the snapshot or event file cannot be written, and it is tried again; an event file cannot be made shorter and becomes longer than `max-size`; or it was removed while the program ran, and is written again at the end";
    H0406 []
        "the class that holds probes cannot be defined";
    H0407 []
        "a thread of the agent does not start or does not answer";
    H0408 []
        "a class that was loaded earlier cannot be retransformed";
    H0409 []
        "a fault of ours";
    H0410 []
        "the option string is no text";
    H0411 [3]
        "methods of changed classes were left as they were, and are not measured, or are without the probes of one plugin, or some of them, as the message says; exit code 3 of `instrument` if a method is not measured";
    H0412 []
        "the socket that the agent is spoken to over cannot be made; an agent that came with the JVM works without, one that was attached does not stay";
    H0413 []
        "a patch made before its class was loaded does not fit it, or the log of patches cannot be completed";
    H0414 []
        "methods became longer than the 8,000 bytes that HotSpot compiles, and it interprets them, because the option `compile-huge=off` is set or the JVM does not say where its flags are; `-XX:-DontCompileHugeMethods` lets it compile them";
    H0415 []
        "a plugin's rule or pattern names a class, and no matching class was loaded until the end; or a plugin that was granted edits changed no class";
    H0416 []
        "the port of `jacoco-tcp` cannot be listened at, for example because another JVM does; the program goes on, and JaCoCo's tools cannot ask it";
    H0417 []
        "warning: `jacoco-tcp` listens at an address that other machines can reach, and everyone there can read and reset the data";
    H0418 []
        "warning: executions of single tests are not recorded any more, since they exceed 256 MiB in a run, or more than 1,024 tests are under way at once";
    H0419 []
        "the JVM's own events, or waits for `--slow`, cannot be recorded, or not to the end; the message names a missing capability of the JVM, the command of another recording that is under way, a missing recording, or the cause of an incomplete file";
    H0420 []
        "a plugin that observes gets no events; the message names a missing capability of the JVM, or a setting of another plugin; as a warning, it failed with events, which are lost, and gets none after three failures in a row; or a request of the plugin gets no answer";

    // H05xx: reaching a running JVM
    H0501 [2]
        "there is no such process";
    H0502 [2]
        "the process is no JVM";
    H0503 [2]
        "the JVM belongs to another user";
    H0504 [2]
        "the JVM does not accept attaching";
    H0505 [2]
        "the JVM does not answer";
    H0506 [2]
        "an argument is longer than the JVM's attach protocol takes";
    H0507 [2]
        "the JVM refused the command";
    H0508 [2]
        "the agent did not start in the JVM; the lines after it are the agent's own";
    H0509 [2]
        "the operating system said no";
    H0510 [2, 3]
        "the JVM is stopped, by a signal or a debugger; the message says whether a request is pending in it; the recorded data is shown, with exit code 3";
    H0511 [2]
        "the JVM has no `/tmp` to open its socket in, or it is read-only";
    H0512 [2]
        "the JVM sees another file system, as in a container, and no folder there can hold the agent's library; the message names the folders tried, each with its problem";
    H0513 [2]
        "the JVM runs on musl (Alpine), and this agent was built for glibc alone, as by `cargo xtask build`; that of the archive runs on both";
    H0514 [2]
        "`dump ADDRESS:PORT`: the process there speaks another protocol or stops amid the answer; or `--to` is missing";
    H0515 [2]
        "the JVM has too few free file descriptors to accept a connection or open a file; the message holds their numbers";
    H0516 [2]
        "the JVM has a capability that this user lacks, so that its files are hidden, and it sees other mounts: only root reaches it";
    H0517 [2]
        "`dump ADDRESS:PORT`: no process listens there; the Maven goal `dump` tries again";

    // H06xx: the command line
    H0600 [2]
        "an unknown command or option, a missing one, or a value that is not accepted; the message names it, and the nearest one";
    H0601 [2]
        "`libclasshook.so` is not found; the message names the places";
    H0602 [2]
        "the command to run is not found";
    H0603 [2]
        "the command to run cannot be started";
    H0604 [2]
        "the JDK is too old or for another processor, or a path is no text";
    H0605 [2]
        "another command of `classhook` has started this one, and its agent is in `JAVA_TOOL_OPTIONS`: start one at a time, or name the PID of a JVM that has the agent";
    H0606 [2]
        "a selector of a report makes no sense, or needs data that its files do not have; `--carry-over` without class files; `--per-loader` with an output or a recording without single loaders; or `--per-test` without a report that names tests";
    H0607 [2]
        "the JVM to attach to sees another file system, as in a container, and not the plugin or configuration file that its agent is to read, or its user may not read that file: copy it there, to the same path, or let this user read it";
    H0608 [2]
        "the agent is in the JVM to attach to already, and records elsewhere or cannot be spoken to";
    H0609 [2]
        "another command does this in the JVM already; the message names its process, user, start and command line";
    H0610 [2, 3]
        "there is nothing recorded; or, with exit code 3, nothing to report: no class with code was measured, or `--classes` and `--module` name places without class files";
    H0611 [2]
        "a file is damaged, of a newer version, or no snapshot, event file or `.exec` file at all";
    H0612 [2, 3]
        "a file or folder cannot be read, or is not there";
    H0613 [2]
        "a class file or archive is damaged, or neither of both";
    H0614 [2]
        "a module of the JDK cannot be read";
    H0615 [3]
        "warning: a file is empty or ends early, because its JVM was killed, exit code 3; or because it is still running and writes the file, exit code 0";
    H0616 [3]
        "warning, exit code 3: runs of one class do not fit together, and those that came later are left out";
    H0617 []
        "warning: two versions of one class ran; a report holds the first";
    H0618 []
        "warning: the class files of recorded classes are missing; name them with `--classes`";
    H0619 [3]
        "warning, exit code 3: a class, a file or an archive within `--classes` or `--module`, cannot be read or analysed, and the report is made of the others; `--strict-inputs` makes it an error";
    H0620 [2, 3]
        "a file or folder cannot be written; before a program is started, if that is known then; exit code 3 if the disk is full, or for one report or output among others that are written";
    H0621 [2]
        "the folder for a report holds something else";
    H0622 []
        "warning: the class file given is not the one that ran, or a tool has changed it; the cause says which, and of a file that a tool has changed the exit code is 3";
    H0623 [3]
        "warning, exit code 3 where a report lacks them: methods whose subroutines (`jsr`, `ret`) cannot be inlined are not measured; their classes are left out of `.exec` files, at which JaCoCo's tools would stop";
    H0624 [1]
        "standard output cannot be written";
    H0625 [3]
        "warning, exit code 3: a class of the report ran without probes after a failure, or a method that has no room for them; no counter of the report holds it, unless another JVM executed it; `--select '!CLASS'` leaves the class out";
    H0626 [1]
        "signals cannot be waited for";
    H0627 [2]
        "`--exact-lines`, `--hit-counts`, `--per-loader` or `--before-agents` with a JVM that is running, or `--ignore-metaspace` with a command";
    H0628 [3]
        "no JVM of the run loaded a class of the report, as where a build runs no test; the message names likely causes. Exit code 3 of `coverage`, a warning of `report` and `check`, unless nothing at all is recorded";
    H0629 [3]
        "warning, exit code 3 unless the program's own is another: the agent could not start in a JVM of the run, as where the JVM's user may not write to the folder or the disk is full, so it recorded nothing";
    H0630 [1]
        "the process for independent readers of class files cannot be started or limited";
    H0631 [2]
        "there is no such class where it was looked for";
    H0632 []
        "warning of `verify`: a class, or a file or archive within a place, cannot be read";
    H0633 []
        "warning of `verify`: an independent reader reads something else than we do; report it to us, with the class";
    H0634 []
        "warning of `verify`: a plugin or the rewriter failed on a class";
    H0635 []
        "warning of `verify`: an independent reader no longer accepts a class after it was changed; report it to us, with the class";
    H0636 [2]
        "a report, `--slow`, rows of `top` by thread, or names of spans need single calls, and only sums or no calls are recorded";
    H0637 [3]
        "`classhook doctor` found a problem, exit code 3; the line below each finding gives the remedy";
    H0638 [2, 3]
        "`trace`, `watch`: a value of `--when` or `--show` is in no call, because a class does not have the field: exit code 2 where the loaded classes say so at the start, else 3 at the end; the lines after it hold the value, the class, and the nearest field";
    H0639 [2, 3]
        "`trace --follow` may not change classes of the JDK (`--grant boot`), or `--select` leaves them out; exit code 3 if no class was changed, so that no task was followed";
    H0640 [2]
        "`instrument`: the output would overwrite an input, inputs with different contents would become the same file (`--on-conflict first` keeps the first), or the output is a device";
    H0641 []
        "warning of `instrument`: a class file, entry or archive cannot be read (damaged, or of an unknown form) and stays unchanged, or something in a folder is no file and was left out";
    H0642 []
        "warning of `instrument`: a class is instrumented already and stays unchanged";
    H0643 []
        "warning of `instrument`: a signed jar loses its signature";
    H0644 [2]
        "`instrument`: an archive has an entry outside of its root (`../`)";
    H0645 [130]
        "the command was interrupted; nothing was written, or the classes of a JVM are changed in part, or, of a visit to a running JVM, those that had been changed are as they were before";
    H0646 []
        "warning of `instrument`: an archive has duplicate entries; the last of each, which a JVM reads, is kept";
    H0647 [1]
        "`instrument`: no threads or signal handlers can be had";
    H0648 [2]
        "`instrument`: the input or the output is not given";
    H0649 [3]
        "warning of `coverage PID` and `trace PID`, exit code 3: classes or methods that were selected were not instrumented; the lines after it say which and why";
    H0650 [2]
        "`coverage PID`, `trace`, `top` or `watch`: nothing was instrumented; while a JVM is visited, and after `attach`, a warning that nothing is yet; of classes that are loaded it says why they are not changed, and which option helps";
    H0651 [3]
        "coverage, a trace, or the output of `watch` or `top` is incomplete, exit code 3: a JVM was killed (`watch`, `top`), a file could not be written, for example on a full disk, calls or values found no room, or calls were dropped from an event file with `--max-size` before `--json-lines` had them; the lines after it give the amount or the JVM, the time and the cause";
    H0652 []
        "warning of `attach`, `enable` and `reload`: a plugin's rule or pattern names a class that no loaded class matches; the line after it holds the nearest name, or why the plugin does not see the class";
    H0653 [2]
        "`compile-plugin`: there is no folder that belongs to this user alone to keep compiled plugins in";
    H0654 [3]
        "warning, exit code 3: with `--diff`, sources with uncommitted changes were written after the last run had begun, so results may belong to other lines";
    H0655 [2]
        "`watch`: its subject is unclear: give a process id and methods, or methods and a command behind `--`; `--at` or `--field` replace methods";
    H0656 [3]
        "warning of a visit to a running JVM, exit code 3: the agent left before the command ended, as after `classhook off`, or the plugin was disabled; the data until then is shown";
    H0657 [2]
        "`trace PID` and `watch PID`: no method that is traced has a parameter that the condition or the list names: a warning for a number, an error for a name, with the nearest one";
    H0658 [2]
        "`plugin run --watch`: the plugin cannot change, since it is a bundled one or was added, or has too many files";
    H0659 [2]
        "`profile --heap`: the pause of the program would be longer than `--max-pause`, or the answer to the question was not yes; the JVM read nothing";
    H0660 [2]
        "`top`: the terminal cannot be used; with `| cat` behind the command tables are printed instead";
    H0661 [1, 2]
        "`trace --otlp`: a URL, protocol, header, file or other value cannot be used; the message names the option or variable, or the file";
    H0662 [3]
        "`trace --otlp`, exit code 3: the receiver did not take all spans and metrics; the lines after it hold numbers and causes; while the trace goes on, a warning that it does not take them";
    H0663 [2]
        "`profile`: the kind is not given, or an option belongs to a kind that is not recorded; `--slow` with a recording of the profiler or with `--when`; `--against` without `--flame-graph` and `--folded`; `trace --depth` without a kept value";
    H0664 [1, 2, 3]
        "`profile --heap`: the JVM has written no dump of its heap, or only a part (on a full disk, for example), or its answer holds no histogram; no class of the name in `path` is loaded, or the JVM does not follow references";
    H0665 [3]
        "warning, exit code 3: a plugin that observes did not get all events of a JVM, because it was too slow or failed, or the JVM was killed; the lines after it give the number and the cause";
    H0666 [3]
        "exit code 3: the receiver of `--to` has not everything that was recorded; the lines after it say how many bytes of which file, and why";
    H0667 [3]
        "the child process that sends a recording, or reads a heap dump, could not be started, was killed, or ended without a result";
    H0668 [2]
        "`collect`: nothing can be received at this address or in this folder, or the token cannot be read or made";
    H0669 [2, 3]
        "`--to`, `collect`: this is no address, or tcp has no token";
    H0670 [2]
        "two reports would be written to one file, or both to standard output, or one under a name that a page of the HTML report may have";
    H0671 [2]
        "the selection of `coverage` or `report`, a rule of `--fail-under` or of a file in TOML, or the selector of `classes`, matches no class, or no class was measured at all; the lines after it hold the nearest names; a warning of reports if one of several selectors, or an annotation of `--exclude-annotation`, matches nothing";
    H0672 [3]
        "warning, exit code 3: a file of a run cannot be read, and the report is made of the others; `--strict-inputs` makes it an error";
    H0673 [2, 4]
        "exit code 4: less is covered than `--fail-under` or `--rules` ask for, as standard output says; or `check` has no rule";
    H0674 [2]
        "a command to start is not behind `--`, or a file of a run is named where a command belongs, or neither a command nor a JVM is named; the line after it is the right command";
    H0675 []
        "warning of `merge`: results of other plugins than `coverage` are not merged, or results of single class loaders are united, because a file was recorded for all loaders together or by test";
    H0676 [2]
        "a file of `--rules` is neither TOML nor XML, holds no rule, or something in it makes no sense; the lines after it show the place";
    H0677 []
        "warning: a rule of JaCoCo's form names nothing that was measured, and so holds";
    H0678 [1, 2]
        "`--diff`: there is no git, no repository, no such revision, or no common ancestor, as in a shallow clone";
    H0679 [3]
        "warning, exit code 3: several changed files can be the source of a class, so no file is taken; `--sources` decides";
    H0680 [2]
        "`plugin new`, `plugin add`: this cannot be the name of a plugin";
    H0681 [2]
        "`plugin new`: the folder exists and is not empty";
    H0682 [2]
        "`plugin`: there is no plugin of this name, or no project in this folder";
    H0683 [2]
        "`plugin`: cargo, clang or its linker, componentize-py or componentize-js cannot be started; the message says how to install it";
    H0684 [2]
        "`plugin`: the project does not compile, or makes no component; the compiler's own lines stand above";
    H0685 [2]
        "`plugin test`: a test of the project fails, or the component plans something else than a file in `tests` says";
    H0686 [3]
        "warning, exit code 3 unless the program's own is another: a plugin was switched off, or failed on every class that it selected; the lines after it say on how many, and on which first and why";
    H0687 [3]
        "warning of `plugin list`, exit code 3: a component does not load";
    H0688 [2, 3]
        "`--results-csv`, `--results-json-lines` or `--results-html`: nothing that was recorded belongs to a table of a plugin";
    H0689 [2]
        "a report would be written in the place of a snapshot, an event file, a class file or a jar";
    H0690 [2, 3]
        "`tests-for`, `affected`: the snapshots do not tell tests from one another; with `--per-test` a warning, exit code 3";
    H0691 [2]
        "`tests-for`: no class that was measured has code at the line, or several packages have a file of this name";
    H0692 [3]
        "warning of `tests-for`, `affected` and `--per-test`, exit code 3: something is changed of which it is not known which tests it affects, or not all that tests executed was recorded";
    H0693 [2]
        "`plugin add`: the component cannot be fetched from its URL or registry; the message shows the answer";
    H0694 [2]
        "`plugin add`, `plugin remove`: the command cannot change this form of `classhook.toml`, such as an inline table; the message shows a form that it can";
    H0696 [2]
        "`plugin add`: the fetched component differs from `classhook.lock`, or `--locked` would have to change something";
    H0697 [2]
        "`report --plugin`: the plugin computes no tables";
    H0698 [3]
        "exit code 3: a plugin has not computed its tables, because it failed, or because no recorded data belongs to it; all other output is written";
    H0699 [3]
        "warning of `plugin list`, exit code 3: the component of a plugin that was added is not there, or another one";

    // H07xx: reaching an agent
    H0701 [2]
        "no agent listens in this JVM: attach one, or start the JVM without `control=off`";
    H0702 [2]
        "the agent is of another version than the command, and does not know the request";
    H0703 [2]
        "the agent speaks another version of the protocol";
    H0704 [1, 2]
        "the agent does not answer";
    H0705 [2]
        "the request is malformed, or a request or answer is too long";
    H0706 [2]
        "the socket, or its folder, belongs to another user";
    H0707 [2]
        "the socket cannot be made or reached";
    H0708 [2]
        "the agent has no plugin of this name";
    H0709 [2]
        "`test --end`: no such test is under way";
    H0710 [2]
        "as many commands record calls in this JVM as can at once: wait for the end of one";
    H0711 [2]
        "the metaspace of the JVM may not suffice for the change, so no class was changed: select fewer classes, give it room with `-XX:MaxMetaspaceSize`, or say `--ignore-metaspace` ([options](options.md#metaspace))";

    // H072x: hot patches
    H0720 [2]
        "the JVM does not accept a patch, or its removal, or parts would have no effect; nothing was changed"
        => "the message names each class with the rules that it breaks, and the effect of `--force`; see [patch](patch.md)";
    H0721 [2]
        "the request for a patch makes no sense: no class file, or one class twice"
        => "name each class once";
    H0722 [2]
        "there is no such patch"
        => "`classhook patches` lists those that there are";
    H0723 [2]
        "the log of patches cannot be written, so nothing was changed"
        => "make room there";
    H0724 [2]
        "the JVM does not list its classes"
        => "the message holds its error";
    H0725 [2]
        "there is no Java compiler, or it cannot be started"
        => "set `JAVA_HOME` to a JDK";
    H0726 [2]
        "the sources do not compile"
        => "the message holds the compiler's words; `--class-path` names another class path";
    H0727 [2]
        "there is no class file where it was looked for"
        => "check the path; Java source is named with `--source`";
    H0728 []
        "warning: the JVM compiles with C1 alone, so calls by reflection or method handles may continue in former code; see [patch](patch.md)"
        => "start the JVM without `-XX:TieredStopAtLevel=1`";
    H0729 [2]
        "no loaded class is of the loader that `patch --loader` names, and others have the classes; a warning if the classes are not loaded at all, so that the patch waits"
        => "name a loader that the message lists, or leave `--loader` out";
    H0730 [2]
        "no loader has a class of the patch, and no loader finds a file for it"
        => "correct the name, as the message suggests; `--partial` leaves the class out, `--force` waits for it";
    H0731 []
        "warning: parts of a forced patch have no effect; see [patch](patch.md#changes-without-effect)"
        => "restart the JVM with the new class";
    H0732 [3]
        "warning of `patch`, exit code 3: the frames of virtual threads cannot be seen; the patch is made"
        => "the cause is in the message; such a thread may execute the former code until its method returns";

    H0740 [2]
        "advice with a mistake: an annotation, a parameter or a class that cannot be applied"
        => "the message names file and line, and what is expected; `docs/how-to/advice.md` lists the annotations";
    H0741 [2]
        "`--advice-setting` sets no field of the advice, or to a value of another type"
        => "the message names the fields with `@Setting`";
    H0742 [2]
        "a file of `--advice` is no Java source, class file or jar, or a new advice has no name of a class"
        => "the message says what is expected";
    H0743 [2]
        "`advice check`: a method of the advice runs in no method of these classes"
        => "correct the pattern or the parameter; the message names the nearest methods, and why others do not fit";
    H0744 []
        "warning: advice has thrown an exception, which the program did not see; the first is printed with its stack, then each tenth, hundredth and so on is counted"
        => "correct the advice; `rethrow = true` gives its exceptions to the program";
    H0745 []
        "warning: `instrument` has written advice whose rows of `Events` nobody records"
        => "run the advice with `classhook run --advice` or `attach --advice`, whose agent writes the rows";
    H0746 []
        "warning: advice around a call does not run, because reflection cannot call the method from the class with the call"
        => "use `@BeforeCall` or `@AfterCall` for this method, or open its module to the program with `--add-opens`";

    // H08xx: classes instrumented before they run
    H0801 []
        "warning: nothing, or nothing more, is recorded, for example because the output folder cannot be made";
    H0802 []
        "warning: the snapshot cannot be written, and says so itself; it is tried again";
    H0803 []
        "warning: there are more probes than a snapshot holds (134 million); the classes that follow are not recorded";
    H0804 []
        "warning: the property `classhook.file-name` is no name of a file, or holds a `%` with something else than `p`, `h`, `t`, `u` or `%` behind it; the snapshot is called as without it";
}
