//! Formats a plugin's edits of a class, in figures and as JSON.

use std::time::Duration;

use host::{Explained, Explanation, Outcome};
use rewriter::{ClassFile, MethodIndex};
use serde_json::{Value, json};
use standard_streams::show;

/// A plugin's edits of one class.
pub struct ExplainedClass<'e> {
    /// The class before the edits.
    pub class: &'e ClassFile<'e>,
    /// The plan.
    pub explanation: &'e Explanation,
    /// The result of applying the plan.
    pub outcome: &'e Outcome,
    /// The new bytes; empty if the class is unchanged.
    pub bytes: &'e [u8],
    /// The plugin's run time.
    pub time: Duration,
}

impl ExplainedClass<'_> {
    /// Formats a line of figures for the class.
    #[must_use]
    pub fn figures(&self) -> String {
        let [edits, notes] = [self.edits().count(), self.notes().count()];
        let (before, after) = (self.class.bytes().len(), self.bytes.len());
        let after = match after {
            0 => "as they were".to_owned(),
            after => format!("{after} after"),
        };
        format!(
            "// {edits} edits, {} of the class itself, {notes} notes, {} methods left alone; {before} bytes, {after}; {:.3} ms",
            self.explanation.class_edits.len() + usize::from(self.explanation.replaced.is_some()),
            self.explanation.skipped.len(),
            self.time.as_secs_f64() * 1e3
        )
    }

    /// Returns everything but the code as one object.
    #[must_use]
    pub fn json(&self, plugin: &str, origin: &str) -> Value {
        let remark = |it: &Explained| {
            let (Explained::Edit { plugin, site, text } | Explained::Note { plugin, site, text }) =
                it;
            json!({
                "plugin": plugin,
                "method": self.method(site.method),
                "at": site.location.to_string(),
                "what": text,
            })
        };
        let skipped = self.explanation.skipped.iter();
        let failures = self.outcome.failures().iter().map(|failure| {
            json!({"code": failure.code, "plugin": failure.plugin, "method": failure.method,
                "bci": failure.bci, "cause": failure.cause})
        });
        json!({
            "class": self.class.this_class().to_str_lossless(),
            "origin": origin,
            "plugin": plugin,
            "order": self.explanation.order.iter()
                .map(|(by, order)| json!({"plugin": by, "order": order}))
                .collect::<Vec<_>>(),
            "selected": !self.explanation.asked.is_empty(),
            "changed": self.outcome.is_changed(),
            "nanos": u64::try_from(self.time.as_nanos()).unwrap_or(u64::MAX),
            "bytes_before": self.class.bytes().len(),
            "bytes_after": (!self.bytes.is_empty()).then_some(self.bytes.len()),
            "class_edits": self.explanation.class_edits.len(),
            "replaced_by": self.explanation.replaced.as_ref().map(|(by, _)| by),
            "helpers": self.explanation.helpers.iter()
                .map(|(by, helper)| json!({"plugin": by, "class": helper.name, "bytes": helper.bytes.len()}))
                .collect::<Vec<_>>(),
            "edits": self.edits().map(remark).collect::<Vec<_>>(),
            "notes": self.notes().map(remark).collect::<Vec<_>>(),
            "left_alone": skipped
                .map(|(method, cause)| json!({"method": self.method(*method), "cause": cause}))
                .collect::<Vec<_>>(),
            "failures": failures.collect::<Vec<_>>(),
        })
    }

    /// Formats each note in a line: `com.acme.Store.find: NOTE`.
    #[must_use]
    pub fn noted(&self) -> String {
        let class = self.class.this_class().to_str_lossless().replace('/', ".");
        let line = |note: &Explained| {
            let (Explained::Edit { site, text, .. } | Explained::Note { site, text, .. }) = note;
            let method = self.class.method(site.method);
            let method = method.map_or_else(String::new, |method| method.name().to_string());
            let place = show::name(&format!("{class}.{method}")).into_owned();
            format!("{place}: {}\n", show::name(text))
        };
        self.notes().map(line).collect()
    }

    fn edits(&self) -> impl Iterator<Item = &Explained> {
        let all = self.explanation.remarks.iter();
        all.filter(|it| matches!(it, Explained::Edit { .. }))
    }

    fn notes(&self) -> impl Iterator<Item = &Explained> {
        let all = self.explanation.remarks.iter();
        all.filter(|it| matches!(it, Explained::Note { .. }))
    }

    fn method(&self, index: MethodIndex) -> Option<String> {
        let method = self.class.method(index)?;
        let (name, descriptor) = (method.name(), method.descriptor());
        Some(format!("{name}{descriptor}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_launch::plugin_compiler::PluginCompiler;
    use host::ClassRequest;
    use plugin_projects::configured;
    use probes::ProbeTable;

    #[test]
    fn figures_and_json_hold_edits_bytes_and_time() {
        let bytes = include_bytes!("../../sdk/testkit/tests/Counter.class");
        let class = ClassFile::read(bytes).unwrap();
        let pipeline = configured::pipeline("coverage", None, &PluginCompiler).unwrap();
        let table = ProbeTable::new();
        table.set_arrays(1);
        let mut out = Vec::new();
        let request = ClassRequest::of_file(b"Counter", bytes);
        let (outcome, explanation) = pipeline.explain(&request, &table, &mut out);
        let explained = ExplainedClass {
            class: &class,
            explanation: &explanation,
            outcome: &outcome,
            bytes: &out,
            time: pipeline.summary().plugin_time,
        };
        assert!(explained.time > Duration::ZERO);
        let json = explained.json("coverage", "Counter.class");
        assert_eq!(json["class"], "Counter");
        assert_eq!(json["bytes_before"], bytes.len());
        assert_eq!(json["bytes_after"], out.len());
        assert!(json["nanos"].as_u64() > Some(0));
        let edits = json["edits"].as_array().unwrap();
        assert_eq!(edits[0]["plugin"], "coverage");
        assert_eq!(edits[0]["what"], "hit 0");
        let methods = edits.iter().filter(|it| it["method"] == "increment(I)I");
        assert!(methods.count() > 1, "{json}");
        let expected = format!(
            "// {} edits, 0 of the class itself, 0 notes, 0 methods left alone; {} bytes, {} after; ",
            edits.len(),
            bytes.len(),
            out.len()
        );
        let figures = explained.figures();
        assert!(figures.starts_with(&expected), "{figures}");
    }
}
