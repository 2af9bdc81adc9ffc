// For plugins that compute tables: one source includes it besides sdk.h, and defines `report`.
#ifndef CLASSHOOK_REPORT_H
#define CLASSHOOK_REPORT_H

#include "sdk.h"

// Called when a report is made, by the command and never in a JVM. `recorded_tables`, `recorded_sums` and
// `recorded_events` give what the plugin's probes recorded, `recorded_add_rows` takes the rows that it computes. With
// false and `why`, its tables are missing, and the user reads the cause.
bool report(text_t *why);

// `reporter.report` of wit/plugin.wit, as components have it.
__attribute__((export_name("classhook:plugin/reporter@0.1.0#report"))) void *classhook_report(void) {
  static struct {
    uint8_t failed;
    text_t why;
  } result;
  result.failed = !report(&result.why);
  return &result;
}

// That the component has it.
#include "report_type.h"

#endif
