#include "sandbox/core/route.h"

namespace fairlead::sandbox {
namespace {

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
      out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

Query Query::parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    size_t end = text.find('&');
    std::string_view entry = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (entry.empty()) continue;
    size_t equals = entry.find('=');
    std::string_view value = equals == std::string_view::npos ? std::string_view() : entry.substr(equals + 1);
    query.set(percent_decode(entry.substr(0, equals), true), percent_decode(value, true));
  }
  return query;
}

void Query::set(std::string name, std::string value) { entries_.emplace_back(std::move(name), std::move(value)); }

std::string_view Query::get(std::string_view name) const {
  for (const auto& [key, value] : entries_)
    if (key == name) return value;
  return {};
}

std::vector<std::string> Query::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : entries_)
    if (key == name) values.push_back(value);
  return values;
}

bool Query::has(std::string_view name) const {
  for (const auto& [key, value] : entries_)
    if (key == name) return true;
  return false;
}

bool Query::flag(std::string_view name) const {
  if (!has(name)) return false;
  std::string_view value = get(name);
  return value.empty() || value == "1" || value == "t" || value == "T" || value == "true" || value == "True" ||
         value == "TRUE";
}

Route parse_route(std::string_view target) {
  Route route;
  size_t question = target.find('?');
  std::string_view path = target.substr(0, question);
  if (question != std::string_view::npos) route.query = Query::parse(target.substr(question + 1));
  route.path = percent_decode(path, false);
  while (!path.empty()) {
    size_t end = path.find('/');
    std::string_view step = path.substr(0, end);
    if (!step.empty()) route.steps.push_back(percent_decode(step, false));
    path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
  }

  const std::vector<std::string>& steps = route.steps;
  size_t next = 0;
  if (steps.size() >= 3 && steps[0] == "api") {
    route.version = steps[1];
    next = 2;
  } else if (steps.size() >= 4 && steps[0] == "apis") {
    route.group = steps[1];
    route.version = steps[2];
    next = 3;
  } else {
    return route;
  }
  route.is_resource = true;
  auto take = [&] { return next < steps.size() ? steps[next++] : std::string(); };
  // The old form of watches; nobody should use it, and it is not served.
  // /namespaces/x/finalize and /namespaces/x/status are about the namespace, /namespaces/x/pods about what it holds.
  if (steps[next] == "namespaces" && steps.size() > next + 2 && steps[next + 2] != "finalize" &&
      steps[next + 2] != "status") {
    ++next;
    route.ns = take();
  }
  route.resource = take();
  route.name = take();
  while (next < steps.size()) route.subresource += (route.subresource.empty() ? "" : "/") + steps[next++];
  return route;
}

}  // namespace fairlead::sandbox
