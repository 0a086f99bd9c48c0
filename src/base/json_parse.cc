// Reading JSON: RapidJSON's SAX reader (fast, iterative, strict about UTF-8) drives a small builder that enforces our
// limits and refuses repeated keys.
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <unordered_set>

#include "base/json.h"

namespace fairlead {
namespace {

class Builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
 public:
  explicit Builder(size_t max_depth) : max_depth_(max_depth) {}

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
    if (const std::string* twice = repeated_key(*open_.back().value.if_object())) {
      problem_ = fmt::format("key \"{}\" comes twice in one object", *twice);
      return false;
    }
    return close();
  }

  Json take() { return std::move(result_); }
  const std::string& problem() const { return problem_; }

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
    if (open_.size() >= max_depth_) {
      problem_ = fmt::format("nested deeper than {} levels", max_depth_);
      return false;
    }
    open_.push_back({std::move(value), {}});
    return true;
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

  size_t max_depth_;
  std::vector<Open> open_;
  Json result_;
  std::string problem_;
};

Error error_at(std::string_view text, const Json::Flaw& flaw) {
  std::string_view before = text.substr(0, std::min(flaw.offset, text.size()));
  size_t line = 1 + size_t(std::ranges::count(before, '\n'));
  size_t column = before.size() - (before.rfind('\n') + 1) + 1;
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

}  // namespace

std::expected<Json::First, Json::Flaw> Json::parse_first(std::string_view text, Limits limits) {
  bool cut = text.size() > limits.bytes;
  if (cut) text = text.substr(0, limits.bytes);
  Builder builder(limits.depth);
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
                              rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseStopWhenDoneFlag;
  rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (!result) {
    if (cut && stream.Tell() >= text.size())
      return std::unexpected(Flaw{.what = fmt::format("larger than the limit of {} bytes", limits.bytes), .offset = 0});
    std::string_view problem = builder.problem().empty() ? describe(result.Code()) : builder.problem();
    return std::unexpected(Flaw{.what = std::string(problem), .offset = result.Offset()});
  }
  return First{.value = builder.take(), .size = stream.Tell()};
}

Result<Json> Json::parse(std::string_view text, Limits limits) {
  if (text.size() > limits.bytes)
    return fail(ErrorKind::limit, "JSON of {} bytes is over the limit of {} bytes", text.size(), limits.bytes);
  auto first = parse_first(text, limits);
  if (!first) return fail(error_at(text, first.error()));
  size_t rest = std::min(text.find_first_not_of(" \t\r\n", first->size), text.size());
  if (rest == text.size()) return std::move(first->value);
  std::string_view problem = text[rest] == '\0' ? "there is a NUL byte in it" : "something follows the value";
  return fail(error_at(text, {.what = std::string(problem), .offset = rest}));
}

}  // namespace fairlead
