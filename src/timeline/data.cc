#include <charconv>

#include "timeline/timeline.h"

namespace fairlead::timeline {
namespace {

// Longer texts are cut: the page is for reading, and the journal has them in full.
constexpr size_t kLongestText = 4000;

int64_t micros(Duration at) { return std::chrono::duration_cast<std::chrono::microseconds>(at).count(); }
Json micros(const std::optional<Duration>& at) { return at ? Json(micros(*at)) : Json(-1); }

// Returns the text, cut between two characters if it is too long.
std::string cut(const std::string& text) {
  if (text.size() <= kLongestText) return text;
  size_t end = kLongestText;
  while (end > 0 && (uint8_t(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

// Strings that occur often are written once, and are numbers everywhere else.
class Strings {
 public:
  uint64_t number_of(const std::string& text) {
    auto [found, is_new] = numbers_.emplace(text, list_.size());
    if (is_new) list_.emplace_back(text);
    return found->second;
  }
  Json::Array take() { return std::move(list_); }

 private:
  std::unordered_map<std::string, uint64_t> numbers_;
  Json::Array list_;
};

// "deploy/shop.yaml:12" is a file that many objects share, and a line.
std::pair<std::string, uint64_t> split(const std::string& source) {
  size_t colon = source.rfind(':');
  uint64_t line = 0;
  const char* end = source.data() + source.size();
  if (colon == std::string::npos || std::from_chars(source.data() + colon + 1, end, line).ptr != end)
    return {source, 0};
  return {source.substr(0, colon), line};
}

Json json_of(const Node& node, Strings& strings) {
  auto [file, line] = split(node.source);
  return Json::Array{uint64_t(node.type),
                     strings.number_of(node.key.group),
                     strings.number_of(node.key.kind),
                     strings.number_of(node.key.ns),
                     node.type == Node::Type::object ? node.key.name : node.text,
                     strings.number_of(file),
                     line,
                     strings.number_of(node.state),
                     strings.number_of(node.effect),
                     micros(node.sent),
                     micros(node.refused),
                     micros(node.stored),
                     micros(node.settled)};
}

Json json_of(const std::vector<Need>& needs, Strings& strings) {
  Json::Array list;
  for (const Need& need : needs) {
    list.emplace_back(uint64_t{need.target.index()});
    list.emplace_back(strings.number_of(need.reason));
    list.emplace_back(uint64_t{need.level});
  }
  return list;
}

Json json_of(const std::vector<Moment>& moments, Strings& strings) {
  Json::Array list;
  for (const Moment& moment : moments) {
    list.emplace_back(micros(moment.at));
    list.emplace_back(strings.number_of(std::string(name_of(moment.kind))));
    list.emplace_back(strings.number_of(moment.state));
    list.emplace_back(strings.number_of(cut(moment.text)));
  }
  return list;
}

Json json_of(const Step& step) {
  return Json::Object{{"what", step.what},
                      {"reason", step.reason},
                      {"from", micros(step.from)},
                      {"to", micros(step.to)},
                      {"node", step.node ? Json(uint64_t{step.node->index()}) : Json(-1)}};
}

Json json_of(const Failure& failure) {
  Json::Array because, blocks;
  for (const std::string& text : failure.because) because.emplace_back(cut(text));
  for (NodeId node : failure.blocks) blocks.emplace_back(uint64_t{node.index()});
  return Json::Object{{"what", cut(failure.what)},   {"because", std::move(because)},
                      {"from", failure.from},        {"next", cut(failure.next)},
                      {"blocks", std::move(blocks)}, {"unknown", uint64_t{failure.unknown}}};
}

Json run_of(const Model& model) {
  Json::Array remarks(model.remarks().begin(), model.remarks().end());
  return Json::Object{{"command", model.command()},   {"bundle", model.bundle()},   {"time", model.time()},
                      {"outcome", model.outcome()},   {"end", micros(model.end())}, {"requests", model.requests()},
                      {"remarks", std::move(remarks)}};
}

}  // namespace

Json data_of(const Model& model) {
  Strings strings;
  Json::Array nodes, needs, events, path, failures;
  for (const Node& node : model.nodes()) {
    nodes.push_back(json_of(node, strings));
    needs.push_back(json_of(node.needs, strings));
    events.push_back(json_of(node.moments, strings));
  }
  for (const Step& step : model.path()) path.push_back(json_of(step));
  for (const Failure& failure : model.failures()) failures.push_back(json_of(failure));
  Json moments = json_of(model.moments(), strings);
  return Json::Object{{"version", 1},
                      {"run", run_of(model)},
                      {"strings", strings.take()},
                      {"nodes", std::move(nodes)},
                      {"needs", std::move(needs)},
                      {"events", std::move(events)},
                      {"path", std::move(path)},
                      {"failures", std::move(failures)},
                      {"moments", std::move(moments)}};
}

// Only strings can hold these characters, so each may be written as an escape.
std::string script_text(const Json& json) {
  std::string text = json.dump();
  std::string safe;
  safe.reserve(text.size() + text.size() / 16);
  for (char c : text) {
    if (c == '<') safe += "\\u003c";
    else if (c == '>') safe += "\\u003e";
    else if (c == '&') safe += "\\u0026";
    else safe += c;
  }
  return safe;
}

}  // namespace fairlead::timeline
