// One YAML document into a Json value, straight from libyaml's events.
//
// A builder is used for one document after the other, and keeps its memory between them.
#pragma once

#include <yaml.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "yaml/internal/excerpt.h"
#include "yaml/yaml.h"

namespace fairlead::yaml {

class Builder {
 public:
  explicit Builder(const Limits& limits) : limits_(limits) {}

  // A text without any document is null. Lines are those of the place.
  Result<Document> build(const Place& place);
  // Whether the text of the last error was well-formed YAML that says something it must not.
  bool was_well_formed() const { return well_formed_; }

 private:
  // An object or array that is not complete yet.
  struct Open {
    Json value;
    bool is_object = false;
    yaml_mark_t mark{};
    // The key that the next value will have, once there is one.
    bool has_key = false;
    bool key_is_merge = false;
    std::string key;
    std::string anchor;
    // Where the object has that key already, from a merge key.
    std::optional<size_t> key_index;
    // The line of each key of an object; 0 for those that only a merge key has brought.
    std::vector<uint32_t> key_lines;
    // Where the keys are, once they are too many to scan.
    std::unordered_map<std::string, size_t> index;

    void reset(bool object, const yaml_char_t* anchor_name);
    std::optional<size_t> find(const std::string& wanted);
    void append(std::string new_key, Json new_value);
  };
  struct Anchor {
    bool complete = false;
    Json value;  // a scalar as resolve() has it
    size_t values = 1;
    size_t bytes = 0;
    size_t height = 0;
  };
  // A value that has just been read, on its way to where it belongs.
  struct Arrived {
    Json value;
    bool is_scalar = false;
    bool is_alias = false;
    yaml_mark_t mark{};
  };

  Result<void> take(const yaml_event_t& event);
  Result<void> take_scalar(const yaml_event_t& event);
  Result<void> take_alias(const yaml_event_t& event);
  Result<void> open(bool object, const yaml_event_t& event);
  Result<void> close();
  Result<void> place(Arrived arrived);
  Result<void> take_key(Arrived arrived);
  Result<void> merge(Open& into, Arrived arrived);
  Result<void> charge_copy(size_t values, size_t bytes, yaml_mark_t mark);
  void keep_anchor(std::string name, const Json& value);
  void note_start(const yaml_event_t& event);

  std::unexpected<Error> refuse(yaml_mark_t mark, std::string what, ErrorKind kind = ErrorKind::invalid);
  Error syntax_error(const yaml_parser_t& parser) const;

  const Limits& limits_;
  const Place* place_ = nullptr;
  Document document_;
  std::vector<Open> opened_;  // only the first depth_ are in use
  size_t depth_ = 0;
  size_t documents_ = 0;
  size_t values_ = 0;
  size_t copied_values_ = 0;
  size_t copied_bytes_ = 0;
  bool well_formed_ = false;
  std::map<std::string, Anchor, std::less<>> anchors_;
};

}  // namespace fairlead::yaml
