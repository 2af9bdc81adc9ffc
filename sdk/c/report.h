// For plugins that compute tables: one source file includes this besides sdk.h, and defines `report`.
#ifndef CLASSHOOK_REPORT_H
#define CLASSHOOK_REPORT_H

#include "sdk.h"

// Called when a report is made, by the command and never in a JVM. `recorded_tables`, `recorded_sums` and
// `recorded_events` return data from the plugin's probes, and `recorded_add_rows` adds computed rows to the report. If it
// returns false with `why`, the user sees that text instead of the tables.
bool report(text_t *why);

// The export `reporter.report` of wit/plugin.wit.
__attribute__((export_name("classhook:plugin/reporter@0.1.0#report"))) void *classhook_report(void) {
  static struct {
    uint8_t failed;
    text_t why;
  } result;
  result.failed = !report(&result.why);
  return &result;
}

// The component's type with this export.
#include "report_type.h"

#endif
