#include "base/internal/json_fast.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace fairlead {
namespace {

// What ends the plain part of a string: a quote, a backslash, a control character, or a byte that is no ASCII.
constexpr std::array<bool, 256> kIsSpecial = [] {
  std::array<bool, 256> special{};
  for (size_t c = 0; c < 256; ++c) special[c] = c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
  return special;
}();

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of the well-formed UTF-8 sequence at the start, of two bytes or more; 0 if there is none.
size_t sequence_length(const char* at, const char* end) {
  auto byte = [&](int i) { return static_cast<unsigned char>(at[i]); };
  auto follows = [&](int i) { return (byte(i) & 0xc0) == 0x80; };
  unsigned char lead = byte(0);
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return end - at >= 2 && follows(1) ? 2 : 0;
  if (lead < 0xf0) {
    if (end - at < 3 || !follows(1) || !follows(2)) return 0;
    bool is_overlong = lead == 0xe0 && byte(1) < 0xa0;
    bool is_surrogate = lead == 0xed && byte(1) >= 0xa0;
    return is_overlong || is_surrogate ? 0 : 3;
  }
  if (lead > 0xf4 || end - at < 4 || !follows(1) || !follows(2) || !follows(3)) return 0;
  bool is_outside = (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) >= 0x90);
  return is_outside ? 0 : 4;
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

class Reader {
 public:
  Reader(std::string_view text, const Json::Limits& limits)
      : at_(text.data()),
        end_(text.data() + text.size()),
        depth_left_(std::min(limits.depth, kMaxDepth)),
        values_left_(limits.values) {}

  bool read_document(Json& out) {
    skip_space();
    if (!read_value(out)) return false;
    skip_space();
    return at_ == end_;
  }

 private:
  // Values inside each other are read by calls inside each other.
  static constexpr size_t kMaxDepth = 200;

  void skip_space() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (size_t(end_ - at_) < word.size() || std::memcmp(at_, word.data(), word.size()) != 0) return false;
    at_ += word.size();
    return true;
  }

  bool read_value(Json& out) {
    if (at_ == end_ || values_left_-- == 0) return false;
    switch (*at_) {
      case '{': return read_object(out);
      case '[': return read_array(out);
      case '"': {
        std::string text;
        if (!read_string(text)) return false;
        out = Json(std::move(text));
        return true;
      }
      case 't': out = Json(true); return take_word("true");
      case 'f': out = Json(false); return take_word("false");
      case 'n': return take_word("null");
      default: return read_number(out);
    }
  }

  bool read_object(Json& out) {
    if (depth_left_-- == 0) return false;
    ++at_;
    out = Json(Json::Object());
    Json::Object& object = *out.if_object();
    skip_space();
    if (!take('}')) {
      do {
        skip_space();
        std::string key;
        if (at_ == end_ || *at_ != '"' || !read_string(key)) return false;
        skip_space();
        if (!take(':')) return false;
        skip_space();
        if (!read_value(object.append(std::move(key), Json()))) return false;
        skip_space();
      } while (take(','));
      if (!take('}') || has_repeated_key(object)) return false;
    }
    ++depth_left_;
    return true;
  }

  bool read_array(Json& out) {
    if (depth_left_-- == 0) return false;
    ++at_;
    out = Json(Json::Array());
    Json::Array& array = *out.if_array();
    skip_space();
    if (!take(']')) {
      do {
        skip_space();
        if (!read_value(array.emplace_back())) return false;
        skip_space();
      } while (take(','));
      if (!take(']')) return false;
    }
    ++depth_left_;
    return true;
  }

  bool read_string(std::string& out) {
    const char* start = ++at_;
    skip_plain();
    if (at_ == end_) return false;
    out = std::string(start, at_);
    while (*at_ != '"') {
      if (*at_ == '\\' ? !read_escape(out) : !read_sequence(out)) return false;
      start = at_;
      skip_plain();
      if (at_ == end_) return false;
      out.append(start, at_);
    }
    ++at_;
    return true;
  }

  void skip_plain() {
    while (at_ < end_ && !kIsSpecial[static_cast<unsigned char>(*at_)]) ++at_;
  }

  bool read_sequence(std::string& out) {
    size_t length = sequence_length(at_, end_);
    out.append(at_, length);
    at_ += length;
    return length > 0;
  }

  bool read_escape(std::string& out) {
    if (end_ - at_ < 2) return false;
    char c = at_[1];
    at_ += 2;
    switch (c) {
      case '"':
      case '\\':
      case '/': out += c; return true;
      case 'b': out += '\b'; return true;
      case 'f': out += '\f'; return true;
      case 'n': out += '\n'; return true;
      case 'r': out += '\r'; return true;
      case 't': out += '\t'; return true;
      case 'u': return read_code(out);
      default: return false;
    }
  }

  bool read_code(std::string& out) {
    uint32_t code = 0;
    if (end_ - at_ < 4) return false;
    auto [stop, error] = std::from_chars(at_, at_ + 4, code, 16);
    if (error != std::errc() || stop != at_ + 4 || (code >= 0xd800 && code < 0xe000)) return false;
    append_utf8(out, code);
    at_ += 4;
    return true;
  }

  bool read_number(Json& out) {
    const char* start = at_;
    take('-');
    if (at_ == end_ || !is_digit(*at_)) return false;
    if (*at_ == '0') ++at_;
    else skip_digits();
    bool is_integer = true;
    if (take('.')) {
      is_integer = false;
      if (!skip_digits()) return false;
    }
    if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
      is_integer = false;
      ++at_;
      if (!take('-')) take('+');
      const char* exponent = at_;
      // The other reader has its own view on what is too large or too small.
      if (!skip_digits() || at_ - exponent > 2) return false;
    }
    return is_integer ? convert<int64_t, uint64_t>(start, out) : convert<double>(start, out);
  }
  bool skip_digits() {
    const char* start = at_;
    while (at_ < end_ && is_digit(*at_)) ++at_;
    return at_ > start;
  }
  // As the first of the types that it fits into.
  template <class First, class... Others>
  bool convert(const char* start, Json& out) {
    First value{};
    auto [stop, error] = std::from_chars(start, at_, value);
    if (error == std::errc() && stop == at_) {
      out = Json(value);
      return true;
    }
    if constexpr (sizeof...(Others) > 0) return convert<Others...>(start, out);
    return false;
  }

  bool has_repeated_key(const Json::Object& object) {
    constexpr size_t kFew = 12;
    if (object.size() > kFew) return has_repeated_key_among_many(object);
    for (auto member = object.begin() + 1; member < object.end(); ++member)
      for (auto earlier = object.begin(); earlier != member; ++earlier)
        if (earlier->key == member->key) return true;
    return false;
  }

  // A table with open addressing. Keys that were chosen to collide end the attempt.
  bool has_repeated_key_among_many(const Json::Object& object) {
    size_t size = std::bit_ceil(object.size() * 2);
    places_.assign(size, nullptr);
    size_t probes_left = object.size() * 8;
    for (const Json::Member& member : object) {
      size_t place = hash(member.key) & (size - 1);
      while (places_[place]) {
        if (*places_[place] == member.key || probes_left-- == 0) return true;
        place = (place + 1) & (size - 1);
      }
      places_[place] = &member.key;
    }
    return false;
  }
  static size_t hash(const std::string& key) {
    uint64_t state = 0x9e3779b97f4a7c15U ^ key.size();
    size_t i = 0;
    for (; i + 8 <= key.size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, key.data() + i, 8);
      state = std::rotl((state ^ word) * 0xff51afd7ed558ccdU, 29);
    }
    uint64_t word = 0;
    std::memcpy(&word, key.data() + i, key.size() - i);
    state = (state ^ word) * 0xff51afd7ed558ccdU;
    return state ^ state >> 32;
  }

  const char* at_;
  const char* end_;
  size_t depth_left_;
  size_t values_left_;
  std::vector<const std::string*> places_;
};

}  // namespace

std::optional<Json> parse_fast(std::string_view text, const Json::Limits& limits) {
  std::optional<Json> value(std::in_place);
  if (!Reader(text, limits).read_document(*value)) value.reset();
  return value;
}

}  // namespace fairlead
