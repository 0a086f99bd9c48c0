// libyaml's parser over a text, and the event that it has delivered last.
#pragma once

#include <yaml.h>

#include <string_view>

namespace fairlead::yaml {

struct Parser {
  explicit Parser(std::string_view text) {
    ready = yaml_parser_initialize(&parser) != 0;
    if (!ready) return;
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Parser() {
    if (has_event) yaml_event_delete(&event);
    if (ready) yaml_parser_delete(&parser);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // False where the text is no YAML: `parser` then has the problem.
  bool next() {
    if (has_event) yaml_event_delete(&event);
    has_event = ready && yaml_parser_parse(&parser, &event) != 0;
    return has_event;
  }

  yaml_parser_t parser;
  yaml_event_t event;
  bool ready = false;
  bool has_event = false;
};

}  // namespace fairlead::yaml
