#include "config/fields.h"

#include <algorithm>
#include <filesystem>

#include "base/nearest.h"
#include "base/printable.h"

namespace fairlead::config {
namespace {

namespace fs = std::filesystem;

// Errors that are reported. More of them help nobody.
constexpr size_t kErrors = 20;
constexpr size_t kLargest = size_t{1} << 20;

}  // namespace

Path child(Path path, yaml::Step step) {
  path.push_back(std::move(step));
  return path;
}

std::string text_of(const Path& path) {
  std::string text;
  for (const yaml::Step& step : path) {
    if (const size_t* index = std::get_if<size_t>(&step)) text += fmt::format("[{}]", *index);
    else text += (text.empty() ? "" : ".") + printable_line(std::get<std::string>(step));
  }
  return text;
}

std::string_view type_text(const Json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "a mapping";
  if (value.is_null()) return "null";
  if (value.is_bool()) return "a boolean";
  return value.is_number() ? "a number" : "a string";
}

Fields::Fields(std::string_view text, std::string file, Positions positions)
    : text_(text), file_(std::move(file)), positions_(positions) {}

Result<Json> Fields::parse() {
  if (text_.size() > kLargest) return fail(ErrorKind::limit, "{} is larger than 1 MiB", file_);
  TRY_ASSIGN(Json value, yaml::parse_one(text_, file_));
  if (auto document = yaml::Stream(text_, file_).next(); document && *document) start_ = (*document)->line;
  return value;
}

std::string Fields::position(const Path& path) const {
  yaml::Position at = yaml::locate_position(text_, start_, path).value_or(yaml::Position{.line = start_});
  if (positions_ == Positions::lines) return fmt::format("{}:{}", file_, at.line);
  return fmt::format("{}:{}:{}", file_, at.line, at.column);
}

void Fields::add(const Path& path, std::string what, std::string next) {
  if (errors_.size() >= kErrors) return;
  Error error = Error(ErrorKind::invalid, std::move(what)).at(position(path));
  errors_.push_back(next.empty() ? std::move(error) : std::move(error).next(std::move(next)));
}

void Fields::add(const Path& path, Error error) {
  if (errors_.size() >= kErrors) return;
  if (error.where().empty() && !path.empty()) error = std::move(error).at(position(path));
  errors_.push_back(std::move(error));
}

void Fields::check_keys(const Json& object, const std::vector<std::string>& known, const Path& path) {
  for (const Json::Member& member : object.members()) {
    if (std::ranges::find(known, member.key) != known.end()) continue;
    std::optional<std::string> meant = nearest(member.key, known);
    add(child(path, member.key),
        fmt::format("unknown key {}{}", printable_line(member.key.substr(0, 100)),
                    meant ? fmt::format("; did you mean {}?", *meant) : ""),
        fmt::format("the keys here are {}", fmt::join(known, ", ")));
  }
}

void Fields::read_string(const Json& value, const Path& path, std::string& target) {
  if (value.is_null()) return;
  const std::string* text = value.if_string();
  if (!text) return add(path, fmt::format("{} must be a string: put it in quotes", text_of(path)));
  if (text->empty()) return add(path, fmt::format("{} is empty", text_of(path)));
  if (text->contains('\0')) return add(path, fmt::format("{} has a zero byte in it", text_of(path)));
  target = *text;
}

void Fields::read_strings(const Json& value, const Path& path, std::vector<std::string>& target) {
  if (value.is_null()) return;
  if (!value.is_array()) return add(path, fmt::format("{} must be a list of strings", text_of(path)));
  for (size_t i = 0; i < value.items().size(); ++i) {
    std::string text;
    Path at = child(path, i);
    if (value.items()[i].is_null()) add(at, fmt::format("{} is empty", text_of(at)));
    read_string(value.items()[i], at, text);
    if (!text.empty()) target.push_back(std::move(text));
  }
}

void Fields::read_switch(const Json& value, const Path& path, std::optional<bool>& target) {
  if (value.is_null()) return;
  if (!value.is_bool()) return add(path, fmt::format("{} must be true or false", text_of(path)));
  target = value.bool_or(false);
}

std::string Fields::from_here(const std::string& path) const {
  if (path == "-" || path.contains("://") || fs::path(path).is_absolute()) return path;
  fs::path folder = fs::path(file_).parent_path();
  std::string joined = (folder / path).lexically_normal();
  // What begins with a dash would be taken for a flag.
  return joined.starts_with('-') ? "./" + joined : joined;
}

std::string Fields::chart_from_here(const std::string& chart) const {
  if (chart.empty()) return chart;
  std::string path = from_here(chart);
  std::error_code error;
  bool is_path = chart.starts_with("./") || chart.starts_with("../") || fs::exists(path, error);
  if (!is_path) return chart;
  // "charts/x" would be the chart x of a repository called charts, if the folder were not there.
  return path.starts_with('/') || path.starts_with("../") || path.contains("://") ? path : "./" + path;
}

}  // namespace fairlead::config
