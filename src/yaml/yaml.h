// YAML and JSON text into Json values, exactly as kubectl reads it.
//
// This is the room's first header. A text is a stream of documents, split at lines `---` before the YAML parser sees
// them, or a stream of JSON values when it starts with `{`. The rules are those of YAML 1.1 as kubectl has them: `yes`
// is a boolean, 0777 is octal, 1.0 is the integer 1, keys that are numbers or booleans become strings. Where kubectl
// loses something in silence, this is stricter: a key that comes twice, bytes that are no UTF-8, and text behind the
// end of a document are errors. All input is hostile: size, depth, the number of values and what aliases expand to have
// limits.
//
// An error has a position "name:line:column" and shows the line with a caret. Where the text may hold secrets (a
// document of kind Secret, anything read with parse_one) the value on that line is left out.
// The room reads no files, and knows nothing about objects but the two names `kind: Secret` and `items`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::yaml {

struct Limits {
  size_t document_bytes = size_t{64} << 20;
  size_t depth = 200;
  // Values in one document, those that aliases bring included.
  size_t values = 8'000'000;
  // What aliases and merge keys may copy in one document.
  size_t copied_values = 400'000;
  size_t copied_bytes = size_t{64} << 20;
};

struct Document {
  Json value;
  // Where its value starts in the text, counted from 1.
  size_t line = 1;
  // Where the items of a list start: those of an array `items` at the top of the document. Empty if it has none.
  std::vector<uint32_t> item_lines;
  // How many values there are in it, itself included.
  size_t values = 0;
};

// The documents of a text, one after the other. The text must outlive the stream.
class Stream {
 public:
  // `name` is what errors call the text: a file's name, "stdin", an address.
  Stream(std::string_view text, std::string name, Limits limits = {});
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // The next document that is not null; nothing at the end. After an error the next call goes on with the document
  // behind the one in error, where it can be told where that starts.
  std::optional<Result<Document>> next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A text with exactly one document, such as a configuration file. It may hold credentials: errors show no values.
Result<Json> parse_one(std::string_view text, std::string_view name);

// A key of an object, or an index into an array.
using Step = std::variant<std::string, size_t>;

// A place in a text, both counted from 1.
struct Position {
  size_t line = 1;
  size_t column = 1;
  bool operator==(const Position&) const = default;
};

// The line of what is at `path` in the object that starts at line `start` of the text (Document::line or one of its
// item_lines). For a member that is the line of its key. Where the path leads nowhere, the line of the deepest part of
// it that is there; nothing if no object starts at that line. Reads the text again: for errors, not for every value.
std::optional<size_t> locate(std::string_view text, size_t start, std::span<const Step> path);
// The same with the column, in characters.
std::optional<Position> locate_position(std::string_view text, size_t start, std::span<const Step> path);

}  // namespace fairlead::yaml
