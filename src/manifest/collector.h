// Gathers the objects and the errors of many texts.
#pragma once

#include "manifest/manifest.h"

namespace fairlead::manifest {

class Collector {
 public:
  explicit Collector(Limits limits) : limits_(limits) {}

  // Every object of the text, which errors call `name`.
  void add(std::string_view text, const std::string& name);
  void add_error(Error error);

  // Enough errors, or too many values: nothing more is worth reading.
  bool is_full() const { return errors_.size() > limits_.errors || values_ > limits_.values; }
  bool is_empty() const { return bundle_.objects.empty() && errors_.empty(); }

  std::expected<Bundle, Errors> finish() &&;

 private:
  struct Text {
    std::string_view content;
    const std::string& name;
  };

  void add_document(const Text& text, yaml::Document document);
  // A list with its items, or an object.
  void add_value(const Text& text, Json value, size_t line, const std::vector<uint32_t>& item_lines);
  void add_object(const Text& text, Json value, size_t line);
  Result<void> check_strings(const Text& text, const object::Object& object, std::string_view member) const;

  Limits limits_;
  size_t values_ = 0;
  Bundle bundle_;
  Errors errors_;
};

}  // namespace fairlead::manifest
