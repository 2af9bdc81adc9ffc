"""Counts the calls of methods."""

from classhook_sdk import Plugin, export
from wit_world.imports import probes, results
from wit_world.imports.results import Column

# The plugin's table for `classhook plugin run` and `classhook report`: a row for each method.
TABLE = "calls"
COLUMNS = [Column("class", "class"), Column("method", "method")]


class MyPlugin(Plugin):
    def configure(self, settings):
        """Selects classes by the setting `classes`, for example `com.acme.**`; all without it."""
        return settings.texts("classes")

    def transform(self, of, to):
        """Counts the entries of each method. Each count is a row of the table."""
        class_name = of.name().replace("/", ".")
        for method in of.methods():
            if method.code_length > 0:
                row = results.row(TABLE, COLUMNS, [class_name, method.name])
                entry = method.index  # a place of kind 0
                probes.count(to, of.sites([entry]), row)


Transformer = export(MyPlugin)
