// Gathers the objects and the errors of many texts.
#pragma once

#include "manifest/manifest.h"
#include "manifest/rendered.h"

namespace fairlead::manifest {

class Collector {
 public:
  explicit Collector(Limits limits) : limits_(limits) {}

  // Every object of the text, which errors call `name`.
  void add(std::string_view text, const std::string& name);
  // Every object of a text that no file has.
  void add_rendered(const Text& text);
  void add_error(Error error);

  // Enough errors, or too many values: nothing more is worth reading.
  bool is_full() const { return errors_.size() > limits_.errors || values_ > limits_.values; }
  bool is_empty() const { return bundle_.objects.empty() && errors_.empty(); }

  std::expected<Bundle, Errors> finish() &&;

 private:
  // A text that is being read. Errors call it `name`; its objects come from `origin`, or from a line of `name`.
  struct Input {
    std::string_view content;
    const std::string& name;
    const std::string* origin = nullptr;
  };

  void add_documents(const Input& text);
  void add_document(const Input& text, yaml::Document document);
  // A list with its items, or an object.
  void add_value(const Input& text, Json value, size_t line, const std::vector<uint32_t>& item_lines);
  void add_object(const Input& text, Json value, size_t line);
  Result<void> check_strings(const Input& text, const object::Object& object, size_t start,
                             std::string_view member) const;

  Limits limits_;
  size_t values_ = 0;
  Bundle bundle_;
  Errors errors_;
};

// True for a fairlead.yaml that describes a bundle, and is not itself a manifest.
bool describes_bundle(const std::string& name, std::string_view text);

}  // namespace fairlead::manifest
