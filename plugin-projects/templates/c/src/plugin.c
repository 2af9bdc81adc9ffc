// Counts the calls of methods.
#include "sdk.h"

// The plugin's table for `classhook plugin run` and `classhook report`: a row for each method.
static const text_t table = TEXT("calls");
static types_column_t columns[] = {
    {TEXT("class"), TYPES_COLUMN_KIND_CLASS},
    {TEXT("method"), TYPES_COLUMN_KIND_METHOD},
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
static bool count(plan_t to, text_t class_name, const class_file_method_summary_t *method, text_t *why) {
  text_t cells[] = {class_name, method->name};
  types_tag_t tag = {.tag = TYPES_TAG_ROW, .val.row = {table, {ALL(columns)}, {ALL(cells)}}};
  types_insertion_point_t entry = point_entry(method->index);
  probes_list_insertion_point_t at = {&entry, 1};
  types_refusal_t refusal;
  types_probe_t first;
  if (!probes_count(to, &at, &tag, &first, &refusal)) {
    return refused(&refusal, why);
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
    if (method->code_length > 0 && !count(to, class_name, method, why)) {
      return false;
    }
  }
  return true;
}
