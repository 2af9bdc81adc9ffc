// Counts the calls of methods.
#include "sdk.h"

// The plugin's table for `classhook plugin run` and `classhook report`: a row for each method.
static const text_t table = TEXT("calls");
static results_column_t columns[] = {
    {TEXT("class"), TEXT("class")},
    {TEXT("method"), TEXT("method")},
};

// Selects classes by the setting `classes`, for example `com.acme.**`; all without it.
bool configure(text_t settings, texts_t *selectors, text_t *why) {
  setting_t known[] = {{.name = TEXT("classes")}};
  if (!settings_read(settings, ALL(known), why)) {
    return false;
  }
  *selectors = known[0].texts;
  return true;
}

// Counts the entries of a method. The count is a row of the table.
static bool count(class_t of, plan_t to, text_t class_name, const class_file_method_summary_t *method, text_t *why) {
  types_failure_t failure;
  text_t cells[] = {class_name, method->name};
  text_t name = table;
  results_list_column_t keys = {ALL(columns)};
  texts_t key = {ALL(cells)};
  classhook_list_u8_t row;
  if (!results_row(&name, &keys, &key, &row, &failure)) {
    return refused(&failure, why);
  }
  class_file_place_t entry = method->index; // a place of kind 0
  class_file_list_place_t places = {&entry, 1};
  class_file_list_site_t sites;
  if (!class_file_method_class_view_sites(of, &places, &sites, &failure)) {
    return refused(&failure, why);
  }
  probes_list_site_t at = {sites.ptr, sites.len};
  probes_list_probe_id_t probes;
  if (!probes_count(to, &at, &row, &probes, &failure)) {
    return refused(&failure, why);
  }
  return true;
}

bool transform(class_t of, plan_t to, text_t *why) {
  text_t internal_name;
  class_file_method_class_view_name(of, &internal_name);
  text_t class_name = dotted(internal_name);
  class_file_list_method_summary_t methods;
  class_file_method_class_view_methods(of, &methods);
  for (size_t i = 0; i < methods.len; i++) {
    const class_file_method_summary_t *method = &methods.ptr[i];
    if (method->code_length > 0 && !count(of, to, class_name, method, why)) {
      return false;
    }
  }
  return true;
}
