#include <yaml.h>

#include <algorithm>

#include "yaml/internal/decode.h"
#include "yaml/internal/json_positions.h"
#include "yaml/internal/parser.h"
#include "yaml/internal/path_finder.h"

namespace fairlead::yaml {
namespace {

void skim_json(std::string_view text, PathFinder& finder) {
  JsonSkimmer skimmer{
      .begin = [&](bool object, Position at) { return finder.begin(object, at), !finder.done(); },
      .key = [&](const std::string& key, Position at) { return finder.key(key, at), !finder.done(); },
      .scalar = [&](Position at) { return finder.scalar(at), !finder.done(); },
      .end = [&] { return finder.end(), !finder.done(); },
  };
  skimmer.skim(text, 1);
}

// Keys count as they are written, and what aliases and merge keys bring has no line of its own.
void skim_yaml(std::string_view chunk, size_t first_line, PathFinder& finder) {
  std::vector<bool> at_key;  // of what is open: whether a key comes next; never in an array
  std::vector<bool> is_object;
  auto value_done = [&] {
    if (!at_key.empty() && is_object.back()) at_key.back() = true;
  };
  Parser parser(chunk);
  while (!finder.done() && parser.next() && parser.event.type != YAML_STREAM_END_EVENT) {
    const yaml_event_t& event = parser.event;
    Position at{.line = first_line + event.start_mark.line, .column = event.start_mark.column + 1};
    bool key_next = !at_key.empty() && at_key.back();
    switch (event.type) {
      case YAML_MAPPING_START_EVENT:
      case YAML_SEQUENCE_START_EVENT: {
        if (key_next) return;
        bool object = event.type == YAML_MAPPING_START_EVENT;
        finder.begin(object, at);
        at_key.push_back(object);
        is_object.push_back(object);
        break;
      }
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        finder.end();
        at_key.pop_back();
        is_object.pop_back();
        value_done();
        break;
      case YAML_ALIAS_EVENT:
      case YAML_SCALAR_EVENT:
        if (key_next) {
          bool scalar = event.type == YAML_SCALAR_EVENT;
          finder.key(scalar ? std::string_view(reinterpret_cast<const char*>(event.data.scalar.value),
                                               event.data.scalar.length)
                            : std::string_view(),
                     at);
          at_key.back() = false;
        } else {
          finder.scalar(at);
          value_done();
        }
        break;
      default: break;
    }
  }
}

}  // namespace

std::optional<Position> locate_position(std::string_view bytes, size_t start, std::span<const Step> path) {
  std::string converted;
  Result<std::string_view> text = decode(bytes, "", converted);
  if (!text) return std::nullopt;
  PathFinder finder(start, path);
  size_t first = text->find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (*text)[first] == '{') skim_json(*text, finder);
  if (finder.position()) return finder.position();

  // The document that has that line.
  size_t begin = 0;
  size_t first_line = 1;
  size_t line = 1;
  for (size_t at = 0; at < text->size() && line < start; ++line) {
    size_t newline = text->find('\n', at);
    if (newline == std::string_view::npos) break;
    at = newline + 1;
    if (!text->substr(at).starts_with("---")) continue;
    size_t end = text->find('\n', at);
    begin = end == std::string_view::npos ? text->size() : end + 1;
    first_line = line + 2;
  }
  if (begin == 0 && text->starts_with("---")) {
    begin = std::min(text->find('\n'), text->size() - 1) + 1;
    first_line = 2;
  }
  size_t end = text->find("\n---", begin > 0 ? begin - 1 : 0);
  PathFinder again(start, path);
  skim_yaml(text->substr(begin, end == std::string_view::npos ? end : end + 1 - begin), first_line, again);
  return again.position();
}

std::optional<size_t> locate(std::string_view bytes, size_t start, std::span<const Step> path) {
  std::optional<Position> found = locate_position(bytes, start, path);
  return found ? std::optional(found->line) : std::nullopt;
}

}  // namespace fairlead::yaml
