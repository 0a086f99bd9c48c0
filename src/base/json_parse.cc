// Reading JSON: RapidJSON's SAX reader (iterative, strict about UTF-8) drives a small builder that enforces our limits,
// and refuses repeated keys or brings them down to one. It reads what json_fast.h leaves to it.
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/internal/json_fast.h"
#include "base/json.h"

namespace fairlead {
namespace {

// Every key once. The work is bounded by the number of members at each level.
void collapse(Json::Object& object, Json::Repeats repeats) {
  std::unordered_map<std::string, size_t> places;
  std::vector<Json::Member> kept;
  std::unordered_set<size_t> merged;
  for (Json::Member& member : object) {
    auto [place, is_new] = places.emplace(member.key, kept.size());
    if (is_new) {
      kept.push_back(std::move(member));
      continue;
    }
    Json& earlier = kept[place->second].value;
    if (repeats == Json::Repeats::merged && earlier.is_object() && member.value.is_object()) {
      for (Json::Member& below : *member.value.if_object())
        earlier.if_object()->append(std::move(below.key), std::move(below.value));
      merged.insert(place->second);
    } else {
      earlier = std::move(member.value);
      merged.erase(place->second);
    }
  }
  object = Json::Object();
  for (size_t i = 0; i < kept.size(); ++i) {
    if (merged.contains(i)) collapse(*kept[i].value.if_object(), repeats);
    object.append(std::move(kept[i].key), std::move(kept[i].value));
  }
}

class Builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
 public:
  // Without `repeats`, a key that comes twice is an error.
  Builder(const Json::Limits& limits, std::optional<Json::Repeats> repeats) : limits_(limits), repeats_(repeats) {}

  bool Null() { return add(Json()); }
  bool Bool(bool value) { return add(Json(value)); }
  // Always called for numbers: the reader's own conversion can go wrong for a zero with a large exponent.
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) { return add_number({text, size}); }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return check({text, size}) && add(Json(std::string(text, size)));
  }

  bool StartObject() { return open(Json(Json::Object())); }
  bool StartArray() { return open(Json(Json::Array())); }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    open_.back().key.assign(text, size);
    return check(open_.back().key);
  }
  bool EndArray(rapidjson::SizeType) { return close(); }
  bool EndObject(rapidjson::SizeType) {
    Json::Object& object = *open_.back().value.if_object();
    if (const std::string* twice = repeated_key(object)) {
      if (repeats_) {
        note_repeated(object);
        collapse(object, *repeats_);
        return close();
      }
      problem_ = fmt::format("key \"{}\" comes twice in one object", *twice);
      return false;
    }
    return close();
  }

  Json take() { return std::move(result_); }
  std::vector<std::string> take_repeated() { return std::move(repeated_); }
  const std::string& problem() const { return problem_; }
  size_t values() const { return values_; }
  bool is_over_limit() const { return is_over_limit_; }

 private:
  // An object or array that has been opened and not closed yet, with the key that the next value will have.
  struct Open {
    Json value;
    std::string key;
  };

  // The reader lets an escaped second half of a surrogate pair pass without the first, which makes it no UTF-8.
  bool check(std::string_view text) {
    for (size_t at = text.find('\xed'); at != std::string_view::npos; at = text.find('\xed', at + 1)) {
      if (static_cast<unsigned char>(text[at + 1]) < 0xa0) continue;
      problem_ = "half of a surrogate pair is missing";
      return false;
    }
    return true;
  }

  bool add_number(std::string_view text) {
    const char* begin = text.data();
    const char* end = begin + text.size();
    auto read = [&](auto& value) {
      auto [stop, error] = std::from_chars(begin, end, value);
      return error == std::errc() && stop == end;
    };
    int64_t integer = 0;
    if (read(integer)) return add(Json(integer));
    uint64_t large = 0;
    if (read(large)) return add(Json(large));
    double number = 0;
    if (read(number)) return add(Json(number));
    // Out of range: what is too small for a double is zero.
    number = std::strtod(std::string(text).c_str(), nullptr);
    if (std::isfinite(number)) return add(Json(number));
    problem_ = "Number too big to be stored in double";
    return false;
  }

  bool add(Json value) {
    if (++values_ > limits_.values) return exceed(fmt::format("more than {} values", limits_.values));
    if (open_.empty()) {
      result_ = std::move(value);
    } else if (Open& parent = open_.back(); Json::Array* array = parent.value.if_array()) {
      array->push_back(std::move(value));
    } else {
      parent.value.if_object()->append(std::move(parent.key), std::move(value));
    }
    return true;
  }

  bool open(Json value) {
    if (open_.size() >= limits_.depth) return exceed(fmt::format("nested deeper than {} levels", limits_.depth));
    open_.push_back({std::move(value), {}});
    return true;
  }

  bool exceed(std::string problem) {
    problem_ = std::move(problem);
    is_over_limit_ = true;
    return false;
  }

  bool close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(value));
  }

  static const std::string* repeated_key(const Json::Object& object) {
    constexpr size_t kFew = 16;
    if (object.size() <= kFew) {
      for (auto member = object.begin(); member != object.end(); ++member)
        for (auto earlier = object.begin(); earlier != member; ++earlier)
          if (earlier->key == member->key) return &member->key;
      return nullptr;
    }
    std::unordered_set<std::string_view> seen;
    for (const Json::Member& member : object)
      if (!seen.insert(member.key).second) return &member.key;
    return nullptr;
  }

  // The way to the value that is open innermost.
  std::string path() const {
    std::string path;
    for (size_t i = 0; i + 1 < open_.size(); ++i) {
      if (const Json::Array* array = open_[i].value.if_array()) path += fmt::format("[{}]", array->size());
      else path += (path.empty() ? "" : ".") + open_[i].key;
    }
    return path;
  }

  void note_repeated(const Json::Object& object) {
    constexpr size_t kMost = 100, kMostBytes = size_t{64} << 10;
    std::unordered_map<std::string_view, size_t> seen;
    std::string above = path();
    for (const Json::Member& member : object) {
      if (repeated_.size() >= kMost || repeated_bytes_ > kMostBytes) return;
      if (++seen[member.key] != 2) continue;
      repeated_.push_back(above.empty() ? member.key : above + "." + member.key);
      repeated_bytes_ += repeated_.back().size();
    }
  }

  Json::Limits limits_;
  std::optional<Json::Repeats> repeats_;
  size_t values_ = 0;
  bool is_over_limit_ = false;
  std::vector<std::string> repeated_;
  size_t repeated_bytes_ = 0;
  std::vector<Open> open_;
  Json result_;
  std::string problem_;
};

Error error_at(std::string_view text, const Json::Flaw& flaw) {
  std::string_view before = text.substr(0, std::min(flaw.offset, text.size()));
  size_t line = 1 + size_t(std::ranges::count(before, '\n'));
  size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  if (flaw.is_limit)
    return Error(ErrorKind::limit, fmt::format("too large as JSON: {} (line {}, column {})", flaw.what, line, column));
  return Error(ErrorKind::invalid, fmt::format("not valid JSON: {} (line {}, column {})", flaw.what, line, column));
}

std::string_view describe(rapidjson::ParseErrorCode code) {
  switch (code) {
    case rapidjson::kParseErrorDocumentEmpty: return "there is nothing in it";
    default: {
      std::string_view text = rapidjson::GetParseError_En(code);
      if (text.ends_with('.')) text.remove_suffix(1);
      return text;
    }
  }
}

struct Parsed {
  Json::First first;
  std::vector<std::string> repeated;
};

std::expected<Parsed, Json::Flaw> parse_with(std::string_view text, Json::Limits limits,
                                             std::optional<Json::Repeats> repeats) {
  bool cut = text.size() > limits.bytes;
  if (cut) text = text.substr(0, limits.bytes);
  Builder builder(limits, repeats);
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
                              rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseStopWhenDoneFlag;
  rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (!result) {
    if (cut && stream.Tell() >= text.size())
      return std::unexpected(
          Json::Flaw{.what = fmt::format("larger than the limit of {} bytes", limits.bytes), .is_limit = true});
    std::string_view problem = builder.problem().empty() ? describe(result.Code()) : builder.problem();
    return std::unexpected(
        Json::Flaw{.what = std::string(problem), .offset = result.Offset(), .is_limit = builder.is_over_limit()});
  }
  return Parsed{{.value = builder.take(), .size = stream.Tell(), .values = builder.values()}, builder.take_repeated()};
}

Result<Parsed> parse_whole(std::string_view text, Json::Limits limits, std::optional<Json::Repeats> repeats) {
  if (text.size() > limits.bytes)
    return fail(ErrorKind::limit, "JSON of {} bytes is over the limit of {} bytes", text.size(), limits.bytes);
  auto parsed = parse_with(text, limits, repeats);
  if (!parsed) return fail(error_at(text, parsed.error()));
  size_t rest = std::min(text.find_first_not_of(" \t\r\n", parsed->first.size), text.size());
  if (rest == text.size()) return *std::move(parsed);
  std::string_view problem = text[rest] == '\0' ? "there is a NUL byte in it" : "something follows the value";
  return fail(error_at(text, {.what = std::string(problem), .offset = rest}));
}

}  // namespace

std::expected<Json::First, Json::Flaw> Json::parse_first(std::string_view text, Limits limits) {
  auto parsed = parse_with(text, limits, std::nullopt);
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  return std::move(parsed->first);
}

Result<Json> Json::parse(std::string_view text, Limits limits) {
  if (text.size() <= limits.bytes)
    if (std::optional<Json> value = parse_fast(text, limits)) return *std::move(value);
  TRY_ASSIGN(Parsed parsed, parse_whole(text, limits, std::nullopt));
  return std::move(parsed.first.value);
}

Result<Json::Lenient> Json::parse_lenient(std::string_view text, Repeats repeats, Limits limits) {
  TRY_ASSIGN(Parsed parsed, parse_whole(text, limits, repeats));
  return Lenient{std::move(parsed.first.value), std::move(parsed.repeated)};
}

Result<Json::Lenient> Json::parse_lenient(std::string_view text, Repeats repeats) {
  return parse_lenient(text, repeats, Limits{});
}

}  // namespace fairlead
