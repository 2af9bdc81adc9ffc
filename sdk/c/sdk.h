// The SDK for plugins in C. A plugin defines `configure` and `transform`; the SDK has functions for texts and settings.
//
// classhook.h declares the functions of the host; its comments are those of wit/plugin.wit. A function that the host may
// reject returns whether it succeeded, with the reason in its last parameter (`refused`).
//
// Memory need not be freed. It is released before the next class; memory from `configure` lives as long as the plugin.
// The C library has only the functions in the folder `include`. Files, the clock and the network are not available.
#ifndef CLASSHOOK_SDK_H
#define CLASSHOOK_SDK_H

#include "classhook.h"

typedef classhook_string_t text_t;
typedef classhook_list_string_t texts_t;
typedef class_file_borrow_class_view_t class_t;
typedef plans_borrow_plan_t plan_t;

// Called once, with the plugin's settings as JSON. Sets selectors of classes (an empty list means all) and returns true,
// or sets `why`, a text for the user, and returns false.
bool configure(text_t settings, texts_t *selectors, text_t *why);

// Called for each class; adds edits to the plan. If it returns false with `why`, the class stays unchanged.
bool transform(class_t of, plan_t to, text_t *why);

// Converts a string literal to a text.
#define TEXT(literal) ((text_t){(uint8_t *)(literal), sizeof(literal) - 1})

// The elements and the length of an array, for the `ptr` and `len` of a list.
#define ALL(array) (array), sizeof(array) / sizeof *(array)

bool text_equal(text_t one, text_t other);

// Concatenates texts.
text_t text_joined(const text_t *parts, size_t count);

// Converts `com/acme/Store` to `com.acme.Store`.
text_t dotted(text_t internal_name);

// Sets `why` to the reason of a rejected request. Always returns false, for use in a return statement.
bool refused(const types_refusal_t *refusal, text_t *why);

// Insertion points: the points of a method, by its index and the bci of an instruction.

static inline types_insertion_point_t point_of(uint16_t kind, uint16_t method, uint16_t bci, uint16_t target) {
  return (uint64_t)kind << 48 | (uint64_t)target << 32 | (uint64_t)bci << 16 | method;
}

// The method entry, reached once per invocation.
static inline types_insertion_point_t point_entry(uint16_t method) { return point_of(0, method, 0, 0); }

// Before an instruction, on every path to it.
static inline types_insertion_point_t point_before(uint16_t method, uint16_t bci) { return point_of(1, method, bci, 0); }

// Behind an instruction, when it completes normally and the next instruction follows.
static inline types_insertion_point_t point_fall_through(uint16_t method, uint16_t bci) { return point_of(2, method, bci, 0); }

// On the jump of an instruction to a target.
static inline types_insertion_point_t point_jump(uint16_t method, uint16_t bci, uint16_t target) { return point_of(3, method, bci, target); }

// Where an exception leaves the method.
static inline types_insertion_point_t point_unwind(uint16_t method) { return point_of(4, method, 0, 0); }

// The instruction itself, for edits that change it.
static inline types_insertion_point_t point_instruction(uint16_t method, uint16_t bci) { return point_of(5, method, bci, 0); }

// The parts of an insertion point.
static inline uint16_t point_method(types_insertion_point_t point) { return (uint16_t)point; }
static inline uint16_t point_bci(types_insertion_point_t point) { return (uint16_t)(point >> 16); }
static inline uint16_t point_target(types_insertion_point_t point) { return (uint16_t)(point >> 32); }
static inline uint16_t point_kind(types_insertion_point_t point) { return (uint16_t)(point >> 48); }

// The parts of an instruction of `class_file_method_method_view_instructions`.
static inline uint16_t instruction_bci(uint64_t packed) { return (uint16_t)packed; }
static inline uint8_t instruction_opcode(uint64_t packed) { return (uint8_t)(packed >> 16); }
static inline int32_t instruction_operand(uint64_t packed) { return (int32_t)(packed >> 32); }

// The parts of an entry of the LineNumberTable.
static inline uint16_t line_bci(uint32_t packed) { return (uint16_t)packed; }
static inline uint16_t line_number(uint32_t packed) { return (uint16_t)(packed >> 16); }

// A setting that is a text or a list of texts: its name, and its value, empty by default.
typedef struct setting_t {
  text_t name;
  texts_t texts;
} setting_t;

// Reads the settings of these names. Returns false with `why` for an unknown name or a value of another type.
bool settings_read(text_t settings, setting_t *known, size_t count, text_t *why);

#endif
