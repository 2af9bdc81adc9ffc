"""Counts the calls of methods."""

from classhook_sdk import Plugin, Point, export
from wit_world.imports import probes
from wit_world.imports.types import Column, ColumnKind, Row, Tag_Row

# The plugin's table for `classhook plugin run` and `classhook report`: a row for each method.
TABLE = "calls"
COLUMNS = [Column("class", ColumnKind.CLASS), Column("method", ColumnKind.METHOD)]


class MyPlugin(Plugin):
    def configure(self, settings):
        """Selects classes by the setting `classes`, for example `com.acme.**`; all without it."""
        return settings.texts("classes")

    def transform(self, of, to):
        """Counts the entries of each method. Each count is a row of the table."""
        class_name = of.name().replace("/", ".")
        for method in of.methods():
            if method.code_length > 0:
                row = Row(TABLE, COLUMNS, [class_name, method.name])
                probes.count(to, [Point.entry(method.index)], Tag_Row(row))


Transformer = export(MyPlugin)
