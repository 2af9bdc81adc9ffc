// What a plugin in C is made of: `configure` and `transform`, which it defines, and some help with texts.
//
// classhook.h declares what a plugin can ask the host; its comments are those of wit/plugin.wit. A function that the
// host may refuse returns whether it was granted, with the reason in its last parameter (`refused`).
//
// Nothing has to be freed: memory lasts until the next class is shown, and what `configure` takes lasts as long as the
// plugin does. There is no C library but what the folder `include` declares, and no file, clock or network.
#ifndef CLASSHOOK_SDK_H
#define CLASSHOOK_SDK_H

#include "classhook.h"

typedef classhook_string_t text_t;
typedef classhook_list_string_t texts_t;
typedef class_file_borrow_class_view_t class_t;
typedef plans_borrow_plan_t plan_t;

// Called once, with the plugin's settings as JSON. It sets the selectors of the classes that the plugin wants (none are
// all), and returns true; or it sets `why`, for the user, and returns false.
bool configure(text_t settings, texts_t *selectors, text_t *why);

// Called for each class; what it asks for goes into the plan. With false and `why`, the class stays as it is.
bool transform(class_t of, plan_t to, text_t *why);

// The text of a literal.
#define TEXT(literal) ((text_t){(uint8_t *)(literal), sizeof(literal) - 1})

// The elements of an array, and how many they are, for the `ptr` and `len` of a list.
#define ALL(array) (array), sizeof(array) / sizeof *(array)

bool text_equal(text_t one, text_t other);

// The texts one behind the other.
text_t text_joined(const text_t *parts, size_t count);

// `com.acme.Store` of `com/acme/Store`.
text_t dotted(text_t internal_name);

// Makes `why` of what the host refused; always false, so that a function can end with it.
bool refused(const types_failure_t *failure, text_t *why);

// A setting that is a text or a list of texts: its name, and what the user says, nothing if he does not.
typedef struct setting_t {
  text_t name;
  texts_t texts;
} setting_t;

// Reads the settings of these names; false, with `why`, if there is another or one is something else.
bool settings_read(text_t settings, setting_t *known, size_t count, text_t *why);

#endif
