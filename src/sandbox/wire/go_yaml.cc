#include "sandbox/wire/go_yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <memory>

namespace fairlead::sandbox {

std::optional<std::string> go_yaml_error(std::string_view text) {
  // Go's reader is libyaml, translated: the words are the same.
  yaml_parser_t parser;
  if (yaml_parser_initialize(&parser) == 0) return std::nullopt;
  std::unique_ptr<yaml_parser_t, void (*)(yaml_parser_t*)> guard(&parser, yaml_parser_delete);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  bool read = true, ended = false;
  while (read && !ended) {
    yaml_event_t event;
    read = yaml_parser_parse(&parser, &event) != 0;
    if (!read) break;
    // Only the first document counts.
    ended = event.type == YAML_STREAM_END_EVENT || event.type == YAML_DOCUMENT_END_EVENT;
    yaml_event_delete(&event);
  }
  if (read) return std::nullopt;
  size_t line = parser.problem_mark.line;
  if (line != 0 && parser.error == YAML_SCANNER_ERROR) ++line;
  if (line == 0) line = parser.context_mark.line;
  std::string_view problem = parser.problem ? parser.problem : "unknown problem parsing YAML content";
  return line == 0 ? std::string(problem) : fmt::format("line {}: {}", line, problem);
}

}  // namespace fairlead::sandbox
