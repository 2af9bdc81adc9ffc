//! The HTML report: a folder of pages that needs neither network nor server.
//!
//! `index.html` lists the packages, `pkg/NAME/index.html` the classes of a package. `src-FILE.html` shows the methods
//! and lines of a source file; a class without a source file has a page `class-NAME.html`. All pages share one style
//! sheet and one script and contain neither themselves. They work without the script: servers such as Jenkins forbid
//! it. The first search loads `classes.js`. For a group, each module has such a folder, `mod-NAME`, beside the pages
//! that list the modules. All text from classes and sources is escaped.

mod executed_by;
mod group;
mod highlight;
mod links;
mod page;
mod rows;
mod sessions;
mod source;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use self::executed_by::ExecutedBy;
use self::links::Links;
use self::page::{Crumb, Head, Page, text};
use self::rows::{Columns, Row};
use super::per_test::PerTest;
use super::table::percent;
use super::{Module, Report, SourceLookup, append, names, processors};
use crate::model::{BundleCoverage, ClassCoverage, PackageCoverage, SourceFileCoverage};

/// Writes the report into the existing `folder`; its first page is `index.html`.
///
/// # Errors
/// A file cannot be written.
pub fn write(report: &Report<'_>, folder: &Path) -> io::Result<()> {
    if !report.is_group {
        let mut modules = report.modules.iter().enumerate();
        return modules.try_for_each(|(number, module)| {
            write_module(report, number, module, folder).map(drop)
        });
    }
    let mut search = String::new();
    let folders = group::folders(report);
    for (number, (module, name)) in report.modules.iter().zip(&folders).enumerate() {
        let inner = folder.join(name);
        std::fs::create_dir_all(&inner)?;
        search += &write_module(report, number, module, &inner)?.search_data(&format!("{name}/"));
    }
    std::fs::write(folder.join("index.html"), group::index(report, &folders))?;
    write_shared(report, report.name, &search, folder)
}

/// Writes the pages of one bundle, of the module with this number.
fn write_module<'a>(
    report: &Report<'a>,
    number: usize,
    module: &Module<'a>,
    folder: &Path,
) -> io::Result<Pages<'a>> {
    let bundle = module.bundle;
    let pages = Pages {
        bundle,
        links: Links::new(bundle),
        incomplete: report.incomplete().collect(),
        head: Head {
            report: report.name,
            module: report.is_group.then_some(&bundle.name),
            changed: report.changed,
            counting: report.counting,
        },
        per_test: report.per_test.map(|per_test| (number, per_test)),
    };
    std::fs::write(folder.join("index.html"), pages.index())?;
    write_shared(report, &bundle.name, &pages.search_data(""), folder)?;
    processors::share(bundle.packages.len(), &|number| {
        pages.write_package(&bundle.packages[number], module.sources, folder)
    })?;
    Ok(pages)
}

/// Writes the files that all pages of a folder share.
fn write_shared(report: &Report<'_>, name: &str, search: &str, folder: &Path) -> io::Result<()> {
    let styles = [include_str!("html/report.css"), &page::widths()].concat();
    std::fs::write(folder.join("report.css"), styles)?;
    std::fs::write(folder.join("report.js"), include_str!("html/report.js"))?;
    std::fs::write(folder.join("sessions.html"), sessions::page(report, name))?;
    std::fs::write(folder.join("classes.js"), format!("classes([{search}]);\n"))
}

/// The pages of one bundle.
struct Pages<'a> {
    bundle: &'a BundleCoverage,
    links: Links<'a>,
    /// Sentences about missing data.
    incomplete: Vec<&'a str>,
    /// The names of the report and of the bundle's module.
    head: Head<'a>,
    /// The number of the module, and the tests that executed its lines.
    per_test: Option<(usize, &'a PerTest<'a>)>,
}

impl Pages<'_> {
    /// Returns the path of a page; `root` leads from its folder to that of the bundle.
    fn path(&self, root: &str, steps: Vec<Crumb>) -> Vec<Crumb> {
        let up = |group: &str| Crumb::new(group, &format!("{root}../index.html"));
        let group = self.head.module.map(|_| up(self.head.report));
        group.into_iter().chain(steps).collect()
    }

    fn index(&self) -> String {
        let path = self.path("", vec![Crumb::here(&self.bundle.name)]);
        let mut page = Page::new(self.head, &self.bundle.name, "", &path);
        page.not_reported(self.head.changed);
        sessions::incomplete(&mut page.body, self.incomplete.iter().copied());
        self.no_match(&mut page.body);
        page.summary(&self.bundle.counters);
        page.filter("Filter packages, find classes", true);
        let packages = self
            .bundle
            .packages
            .iter()
            .filter(|package| package.counters.instruction.total() > 0);
        let rows = packages.map(|package| Row {
            name: names::package(&package.name),
            link: Some(format!("{}/index.html", self.links.folder(package))),
            note: None,
            title: None,
            counters: package.counters,
        });
        rows::write(
            &mut page.body,
            "Package",
            Columns::Packages,
            rows,
            &self.bundle.counters,
        );
        page.finish()
    }

    /// Shows a notice: classes measured from other bytes count as missed, or partly missed.
    fn no_match(&self, body: &mut String) {
        let (carried, missed): (Vec<_>, Vec<_>) = self
            .bundle
            .classes()
            .filter(|class| class.no_match)
            .partition(|class| class.carried_over.is_some());
        let notices = [
            (
                missed,
                "it counts as missed. Report with the class files that ran.",
            ),
            (
                carried,
                "only methods whose code is the same count as executed.",
            ),
        ];
        for (classes, so) in notices {
            if classes.is_empty() {
                continue;
            }
            let _ = write!(
                body,
                "<aside class=notice><p><strong>{} recorded in another version.</strong> What ran is not the class file \
                 this report was made from, so {so}<ul>",
                page::count(classes.len(), "class was", "classes were")
            );
            for class in classes {
                let _ = write!(body, "<li>{}", text(&jvms::names::binary(&class.name)));
                if let Some(carried) = class.carried_over {
                    let _ = write!(body, ": {} of {} methods", carried.same, carried.methods);
                }
            }
            body.push_str("</ul></aside>");
        }
    }

    /// Returns the data of the search: name, link relative to `folder`, percentage of covered instructions, source
    /// file.
    fn search_data(&self, folder: &str) -> String {
        let mut data = String::new();
        for package in &self.bundle.packages {
            for class in package.classes.iter().filter(|class| class.contains_code()) {
                let link = format!(
                    "{folder}{}/{}",
                    self.links.folder(package),
                    self.links.class(class)
                );
                let name = jvms::names::binary(&class.name);
                let percent = percent(class.counters.instruction).unwrap_or_default();
                let file = class.source_file.as_deref().unwrap_or_default();
                let row = [name.as_str(), &link, &percent, file].map(script_string);
                let _ = writeln!(data, "[{}],", row.join(","));
            }
        }
        data
    }

    fn write_package(
        &self,
        package: &PackageCoverage,
        sources: &dyn SourceLookup,
        folder: &Path,
    ) -> io::Result<()> {
        if package.counters.instruction.total() == 0 {
            return Ok(());
        }
        let folder = folder.join(self.links.folder(package));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("index.html"), self.package(package))?;
        let alone = package.classes.iter();
        let alone = alone.filter(|class| class.source_file.is_none() && class.contains_code());
        for class in alone {
            std::fs::write(
                folder.join(self.links.class(class)),
                self.class(package, class),
            )?;
        }
        for file in package
            .source_files
            .iter()
            .filter(|file| file.counters.instruction.total() > 0)
        {
            let source = sources.source(&package.name, &file.name, file.copy);
            let link = self.links.source(package, &file.name, file.copy);
            let tests = self.per_test.map(|(module, per_test)| {
                let lines = per_test.of_file(module, file);
                ExecutedBy::new(per_test, lines, link)
            });
            let page = self.source(package, file, source.as_deref(), tests.as_ref());
            std::fs::write(folder.join(link), page)?;
            let mut path = self.crumbs(package, None);
            path.pop();
            path.extend([
                Crumb::new(&names::package(&package.name), "index.html"),
                Crumb::new(&file.name, link),
                Crumb::here("Tests"),
            ]);
            let all = tests.as_ref();
            let all = all.and_then(|tests| tests.all(self.head, &file.name, &path));
            if let Some((name, page)) = all {
                std::fs::write(folder.join(name), page)?;
            }
        }
        Ok(())
    }

    /// Returns the path of a page in the folder of a package.
    fn crumbs(&self, package: &PackageCoverage, here: Option<&str>) -> Vec<Crumb> {
        let report = Crumb::new(&self.bundle.name, "../../index.html");
        let name = names::package(&package.name);
        let steps = match here {
            None => vec![report, Crumb::here(&name)],
            Some(here) => vec![report, Crumb::new(&name, "index.html"), Crumb::here(here)],
        };
        self.path("../../", steps)
    }

    fn package(&self, package: &PackageCoverage) -> String {
        let name = names::package(&package.name);
        let mut page = Page::new(self.head, &name, "../../", &self.crumbs(package, None));
        page.summary(&package.counters);
        page.filter("Filter classes", false);
        let classes = package.classes.iter().filter(|class| class.contains_code());
        let rows = classes.map(|class| Row {
            name: names::class(class),
            link: Some(self.links.class(class).to_owned()),
            note: self.place(
                package,
                class,
                class.lines.of_source().next().map(|(line, _)| line),
            ),
            title: Some(jvms::names::binary(&class.name)),
            counters: class.counters,
        });
        rows::write(
            &mut page.body,
            "Class",
            Columns::Classes,
            rows,
            &package.counters,
        );
        page.finish()
    }

    /// Returns label and link of a line in the class's source file.
    fn place(
        &self,
        package: &PackageCoverage,
        class: &ClassCoverage,
        line: Option<u32>,
    ) -> Option<(String, String)> {
        let file = class.source_file.as_deref()?;
        let link = self.links.source(package, file, class.source_copy);
        Some(match line {
            Some(line) => (format!("{file}:{line}"), format!("{link}#L{line}")),
            None => (file.to_owned(), link.to_owned()),
        })
    }

    /// Returns the page of a class without a source file.
    fn class(&self, package: &PackageCoverage, class: &ClassCoverage) -> String {
        let name = names::class(class);
        let mut page = Page::new(
            self.head,
            &name,
            "../../",
            &self.crumbs(package, Some(&name)),
        );
        another_version(&mut page.body, class);
        page.summary(&class.counters);
        page.filter("Filter methods", false);
        methods(&mut page.body, class);
        page.finish()
    }

    /// Returns the page of a source file: the methods of its classes, and its lines.
    fn source(
        &self,
        package: &PackageCoverage,
        file: &SourceFileCoverage,
        source: Option<&str>,
        tests: Option<&ExecutedBy<'_>>,
    ) -> String {
        let mut page = Page::new(
            self.head,
            &file.name,
            "../../",
            &self.crumbs(package, Some(&file.name)),
        );
        page.summary(&file.counters);
        if source::has_lines(file, source) {
            page.body
                .push_str("<p class=skip><a href=#code>Skip to the code</a>");
        }
        page.filter("Filter methods", false);
        let classes = package.classes.iter().filter(|class| file.holds(class));
        let classes: Vec<_> = classes.filter(|class| class.contains_code()).collect();
        let open = if classes.len() <= OPEN { " open" } else { "" };
        for class in classes {
            self.section(&mut page.body, class, open);
        }
        source::write(&mut page.body, package, file, source, tests);
        page.finish()
    }

    /// Writes the methods of a class in a source file, below its name.
    fn section(&self, body: &mut String, class: &ClassCoverage, open: &str) {
        let name = text(&names::class(class));
        let _ = write!(body, "<details class=class{open}><summary>{name}");
        if let Some(percent) = percent(class.counters.line) {
            let _ = write!(body, " <small>{percent}% of lines</small>");
        }
        let id = match self.links.class(class).split_once('#') {
            Some((_, anchor)) => format!(" id={anchor}"),
            None => String::new(),
        };
        let _ = write!(body, "</summary><section{id} aria-label=\"{name}\">");
        another_version(body, class);
        methods(body, class);
        body.push_str("</section></details>\n");
    }
}

/// Maximum number of classes in a file whose methods are shown without a click.
const OPEN: usize = 3;

/// Shows a notice: a class measured from another version counts as missed, or partly missed.
fn another_version(body: &mut String, class: &ClassCoverage) {
    if !class.no_match {
        return;
    }
    let so = match class.carried_over {
        None => "all of it counts as missed".to_owned(),
        Some(carried) => format!(
            "only those {} of {} methods count as executed whose code is the same",
            carried.same, carried.methods
        ),
    };
    let _ = write!(
        body,
        "<aside class=notice><p>Another version of this class was recorded, so {so}.</aside>"
    );
}

/// Writes the methods of a class; each links to its first line, on the same page.
fn methods(body: &mut String, class: &ClassCoverage) {
    let rows = class.methods.iter().map(|method| {
        let line = method.first_source_line();
        Row {
            name: names::method(class, method),
            link: line
                .filter(|_| class.source_file.is_some())
                .map(|line| format!("#L{line}")),
            note: line.map(|line| (format!("line {line}"), String::new())),
            title: Some(format!("{}{}", method.name, method.descriptor)),
            counters: method.counters,
        }
    });
    rows::write(body, "Method", Columns::Methods, rows, &class.counters);
}

/// Encodes a JavaScript string that cannot end its script element.
fn script_string(text: &str) -> String {
    let mut string = String::with_capacity(text.len() + 2);
    string.push('"');
    append::escaped(text, &mut string, |character, string| match character {
        '\'' => string.push(character),
        other => {
            for unit in other.encode_utf16(&mut [0; 2]) {
                let _ = write!(string, "\\u{unit:04x}");
            }
        }
    });
    string.push('"');
    string
}
