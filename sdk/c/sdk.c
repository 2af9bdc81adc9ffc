// See sdk.h.
#include "sdk.h"

#include <stdlib.h>
#include <string.h>

// Memory: one area that grows, and is emptied for each class.

#define PAGE 65536u
#define ALIGNMENT 8u

extern uint8_t __heap_base;

static uintptr_t first; // where a class's memory begins: behind what `configure` took
static uintptr_t next;

void *malloc(size_t size) {
  if (next == 0) {
    next = ((uintptr_t)&__heap_base + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
  }
  // The size precedes the memory, for `realloc`.
  uint64_t end = (uint64_t)next + ALIGNMENT + ((uint64_t)size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  uint64_t there = (uint64_t)__builtin_wasm_memory_size(0) * PAGE;
  if (end > there) {
    uint64_t pages = (end - there + PAGE - 1) / PAGE;
    if (end > UINT32_MAX || __builtin_wasm_memory_grow(0, (size_t)pages) == (size_t)-1) {
      return NULL;
    }
  }
  *(size_t *)next = size;
  void *memory = (void *)(next + ALIGNMENT);
  next = (uintptr_t)end;
  return memory;
}

void *realloc(void *memory, size_t size) {
  if (memory == NULL) {
    return malloc(size);
  }
  size_t before = *(size_t *)((uintptr_t)memory - ALIGNMENT);
  if (size <= before) {
    return memory;
  }
  void *larger = malloc(size);
  if (larger != NULL) {
    memcpy(larger, memory, before);
  }
  return larger;
}

void free(void *memory) {
  (void)memory;
}

void abort(void) {
  __builtin_trap();
}

static void *must_have(size_t size) {
  void *memory = malloc(size);
  if (memory == NULL) {
    abort();
  }
  return memory;
}

// Bytes.

void *memcpy(void *to, const void *from, size_t size) {
  for (size_t i = 0; i < size; i++) {
    ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
  }
  return to;
}

void *memmove(void *to, const void *from, size_t size) {
  if ((uintptr_t)to <= (uintptr_t)from) {
    return memcpy(to, from, size);
  }
  for (size_t i = size; i-- > 0;) {
    ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
  }
  return to;
}

void *memset(void *to, int byte, size_t size) {
  for (size_t i = 0; i < size; i++) {
    ((uint8_t *)to)[i] = (uint8_t)byte;
  }
  return to;
}

int memcmp(const void *one, const void *other, size_t size) {
  for (size_t i = 0; i < size; i++) {
    int difference = ((const uint8_t *)one)[i] - ((const uint8_t *)other)[i];
    if (difference != 0) {
      return difference;
    }
  }
  return 0;
}

size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length] != 0) {
    length++;
  }
  return length;
}

// Texts.

bool text_equal(text_t one, text_t other) {
  return one.len == other.len && memcmp(one.ptr, other.ptr, one.len) == 0;
}

text_t text_joined(const text_t *parts, size_t count) {
  size_t length = 0;
  for (size_t i = 0; i < count; i++) {
    length += parts[i].len;
  }
  text_t all = {must_have(length), 0};
  for (size_t i = 0; i < count; i++) {
    memcpy(all.ptr + all.len, parts[i].ptr, parts[i].len);
    all.len += parts[i].len;
  }
  return all;
}

text_t dotted(text_t internal_name) {
  text_t name = text_joined(&internal_name, 1);
  for (size_t i = 0; i < name.len; i++) {
    if (name.ptr[i] == '/') {
      name.ptr[i] = '.';
    }
  }
  return name;
}

bool refused(const types_refusal_t *refusal, text_t *why) {
  text_t help = refusal->help.is_some ? refusal->help.val : TEXT("");
  text_t separator = refusal->help.is_some ? TEXT("; ") : TEXT("");
  text_t parts[] = {refusal->code, TEXT(": "), refusal->message, separator, help};
  *why = text_joined(ALL(parts));
  return false;
}

// Settings: JSON (RFC 8259), limited to an object of texts and lists of texts.

typedef struct reader_t {
  const uint8_t *next;
  const uint8_t *end;
} reader_t;

static bool takes(reader_t *reader, char wanted) {
  while (reader->next < reader->end && *reader->next <= ' ') {
    reader->next++;
  }
  if (reader->next < reader->end && *reader->next == wanted) {
    reader->next++;
    return true;
  }
  return false;
}

// Parses four hexadecimal digits; returns a number beyond all code units if they are invalid.
static uint32_t hexadecimal(reader_t *reader) {
  uint32_t number = 0;
  for (int i = 0; i < 4; i++) {
    uint8_t digit = reader->next < reader->end ? *reader->next++ : 0;
    uint8_t letter = digit | 0x20;
    if (digit >= '0' && digit <= '9') {
      number = number * 16 + (digit - '0');
    } else if (letter >= 'a' && letter <= 'f') {
      number = number * 16 + (letter - 'a' + 10);
    } else {
      return 0x10000;
    }
  }
  return number;
}

// Appends one character of the Basic Multilingual Plane as UTF-8.
static void put(uint32_t character, text_t *text) {
  if (character < 0x80) {
    text->ptr[text->len++] = (uint8_t)character;
    return;
  }
  if (character < 0x800) {
    text->ptr[text->len++] = (uint8_t)(0xC0 | character >> 6);
  } else {
    text->ptr[text->len++] = (uint8_t)(0xE0 | character >> 12);
    text->ptr[text->len++] = (uint8_t)(0x80 | (character >> 6 & 0x3F));
  }
  text->ptr[text->len++] = (uint8_t)(0x80 | (character & 0x3F));
}

static bool read_escape(reader_t *reader, text_t *text) {
  static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
  uint8_t escape = reader->next < reader->end ? *reader->next++ : 0;
  if (escape == 'u') {
    uint32_t character = hexadecimal(reader);
    bool is_half = character >= 0xD800 && character < 0xE000;
    if (is_half || character > 0xFFFF) {
      return false;
    }
    put(character, text);
    return true;
  }
  for (size_t i = 0; i + 1 < sizeof escapes - 1; i += 2) {
    if (escape == (uint8_t)escapes[i]) {
      put((uint8_t)escapes[i + 1], text);
      return true;
    }
  }
  return false;
}

static bool read_text(reader_t *reader, text_t *text) {
  if (!takes(reader, '"')) {
    return false;
  }
  *text = (text_t){must_have((size_t)(reader->end - reader->next)), 0};
  while (reader->next < reader->end) {
    uint8_t byte = *reader->next++;
    if (byte == '"') {
      return true;
    }
    if (byte != '\\') {
      text->ptr[text->len++] = byte;
    } else if (!read_escape(reader, text)) {
      return false;
    }
  }
  return false;
}

static bool read_texts(reader_t *reader, texts_t *texts) {
  bool is_list = takes(reader, '[');
  size_t room = is_list ? (size_t)(reader->end - reader->next) / 2 + 1 : 1;
  *texts = (texts_t){must_have(room * sizeof(text_t)), 0};
  if (is_list && takes(reader, ']')) {
    return true;
  }
  do {
    if (!read_text(reader, &texts->ptr[texts->len])) {
      return false;
    }
    texts->len++;
  } while (is_list && takes(reader, ','));
  return !is_list || takes(reader, ']');
}

static bool read_setting(reader_t *reader, setting_t *known, size_t count, text_t *why) {
  text_t name;
  if (!read_text(reader, &name) || !takes(reader, ':')) {
    *why = TEXT("the settings are no object");
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    if (!text_equal(name, known[i].name)) {
      continue;
    }
    if (read_texts(reader, &known[i].texts)) {
      return true;
    }
    text_t parts[] = {TEXT("expected a text or a list of texts for `"), name, TEXT("`")};
    *why = text_joined(ALL(parts));
    return false;
  }
  text_t *parts = must_have((2 * count + 3) * sizeof(text_t));
  size_t length = 0;
  parts[length++] = TEXT("there is no setting `");
  parts[length++] = name;
  parts[length++] = count == 0 ? TEXT("`, nor any other") : TEXT("`; expected ");
  for (size_t i = 0; i < count; i++) {
    if (i > 0) {
      parts[length++] = TEXT(", ");
    }
    parts[length++] = known[i].name;
  }
  *why = text_joined(parts, length);
  return false;
}

bool settings_read(text_t settings, setting_t *known, size_t count, text_t *why) {
  reader_t reader = {settings.ptr, settings.ptr + settings.len};
  if (!takes(&reader, '{')) {
    *why = TEXT("the settings are no object");
    return false;
  }
  if (takes(&reader, '}')) {
    return true;
  }
  do {
    if (!read_setting(&reader, known, count, why)) {
      return false;
    }
  } while (takes(&reader, ','));
  if (!takes(&reader, '}')) {
    *why = TEXT("the settings are no object");
    return false;
  }
  return true;
}

// The functions that the host calls.

bool exports_transformer_configure(text_t *config, texts_t *selectors, text_t *why) {
  bool done = configure(*config, selectors, why);
  first = next;
  return done;
}

bool exports_transformer_transform(class_t of, plan_t to, text_t *why) {
  next = first;
  return transform(of, to, why);
}
