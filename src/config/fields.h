// Reads the values of a configuration file. What is wrong with them is collected, each error with its position.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "yaml/yaml.h"

namespace fairlead::config {

using Path = std::vector<yaml::Step>;

Path child(Path path, yaml::Step step);
// "sources[0].values"
std::string text_of(const Path& path);
// What YAML calls the type of a value: "a list", "a mapping", "a string", "null".
std::string_view type_text(const Json& value);

class Fields {
 public:
  enum class Positions { lines, columns };

  // The text must outlive the object. `file` is the name of the file that the text was read from.
  Fields(std::string_view text, std::string file, Positions positions = Positions::lines);

  // Returns the value of the text, which has to be one document and at most 1 MiB.
  Result<Json> parse();

  const std::string& file() const { return file_; }
  // "fairlead.yaml:4", or with columns "kof.yaml:4:3".
  std::string position(const Path& path) const;

  void add(const Path& path, std::string what, std::string next = {});
  // An error of something else that is named at `path`. It gets that position, unless it has one.
  void add(const Path& path, Error error);
  bool failed() const { return !errors_.empty(); }
  std::vector<Error> take_errors() { return std::move(errors_); }

  // Each adds an error if the value is of another type or empty. A value that is null is not there, and leaves `target`
  // as it is.
  void check_keys(const Json& object, const std::vector<std::string>& known, const Path& path);
  void read_string(const Json& value, const Path& path, std::string& target);
  void read_strings(const Json& value, const Path& path, std::vector<std::string>& target);
  void read_switch(const Json& value, const Path& path, std::optional<bool>& target);

  // Returns a path of the file as it is from the current directory. Addresses and standard input stay as they are.
  std::string from_here(const std::string& path) const;
  // The same for a chart, which is a path if it is written like one, or if there is such a folder or archive.
  std::string chart_from_here(const std::string& chart) const;

 private:
  std::string_view text_;
  std::string file_;
  Positions positions_;
  size_t start_ = 1;
  std::vector<Error> errors_;
};

}  // namespace fairlead::config
