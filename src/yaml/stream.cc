// Splitting a text into documents, the way kubectl does it, and reading them one by one.
#include <algorithm>

#include "yaml/internal/builder.h"
#include "yaml/internal/decode.h"
#include "yaml/internal/excerpt.h"
#include "yaml/internal/json_positions.h"
#include "yaml/internal/scalar.h"
#include "yaml/yaml.h"

namespace fairlead::yaml {
namespace {

// How far kubectl looks for the brace that makes a text JSON.
constexpr size_t kJsonLookAhead = 4096;
constexpr std::string_view kSpace = " \t\r\n\v\f";
constexpr std::string_view kSeparator = "---";

bool starts_like_json(std::string_view text) {
  text = text.substr(0, kJsonLookAhead);
  size_t first = text.find_first_not_of(kSpace);
  return first != std::string_view::npos && text[first] == '{';
}

size_t end_of_line(std::string_view text, size_t start) {
  size_t newline = text.find('\n', start);
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

bool is_separator(std::string_view text, size_t start) { return text.substr(start).starts_with(kSeparator); }

// Only space or a comment may follow the dashes.
bool is_clean_separator(std::string_view line) {
  size_t first = line.find_first_not_of(kSpace, kSeparator.size());
  return first == std::string_view::npos || line[first] == '#';
}

}  // namespace

struct Stream::Impl {
  Impl(std::string_view bytes, std::string text_name, Limits text_limits)
      : name(std::move(text_name)), limits(text_limits), builder(limits) {
    Result<std::string_view> decoded = decode(bytes, name, converted);
    if (!decoded) {
      broken = std::move(decoded.error());
      return;
    }
    text = *decoded;
    is_json = starts_like_json(text);
  }

  // A part of the text, from the offset `begin` on; each call at or behind the offset of the one before.
  Place place_of(size_t begin, std::string_view chunk) {
    line += size_t(std::count(text.begin() + std::ptrdiff_t(counted), text.begin() + std::ptrdiff_t(begin), '\n'));
    counted = begin;
    return {.text = chunk, .name = name, .first_line = line, .hide_values = false};
  }

  Result<Document> next_json();
  std::optional<Result<Document>> next_yaml();
  Result<Document> read_yaml(size_t begin, size_t end);

  std::string name;
  Limits limits;
  std::string converted;  // what UTF-16 was turned into
  std::string_view text;
  std::optional<Error> broken;
  Builder builder;
  bool is_json = false;
  size_t json_values = 0;
  size_t at = 0;
  size_t json_end = 0;  // of the last JSON value
  size_t counted = 0;   // lines are counted up to here
  size_t line = 1;
};

Stream::Stream(std::string_view text, std::string name, Limits limits)
    : impl_(std::make_unique<Impl>(text, std::move(name), limits)) {}
Stream::~Stream() = default;

std::optional<Result<Document>> Stream::next() {
  Impl& self = *impl_;
  if (self.broken) {
    Error error = std::move(*self.broken);
    self.broken.reset();
    self.at = self.text.size();
    return fail(std::move(error));
  }
  while (self.is_json) {
    self.at = std::min(self.text.find_first_not_of(kSpace, self.at), self.text.size());
    if (self.at == self.text.size()) return std::nullopt;
    Result<Document> document = self.next_json();
    if (!document || !document->value.is_null()) return document;
  }
  while (true) {
    std::optional<Result<Document>> document = self.next_yaml();
    if (!document || !*document || !(*document)->value.is_null()) return document;
  }
}

Result<Document> Stream::Impl::next_json() {
  std::string_view rest = text.substr(at);
  auto first =
      Json::parse_first(rest, {.bytes = limits.document_bytes, .depth = limits.depth, .values = limits.values});
  if (first) {
    Place place = place_of(at, rest.substr(0, first->size));
    at = json_end = at + first->size;
    ++json_values;
    make_integral_doubles_integers(first->value);
    Document document{.value = std::move(first->value), .line = place.first_line, .values = first->values};
    if (document.value["items"].is_array()) document.item_lines = json_item_lines(place.text, place.first_line);
    return document;
  }

  // One brace does not make a stream of JSON: it may have been YAML all along. Several values do.
  is_json = false;
  Place place = place_of(json_end, text.substr(json_end));
  place.hide_values = may_be_secret(rest);
  std::string_view what = first.error().is_limit ? "the document is too large: " : "not valid JSON: ";
  Error json_error =
      error_at_offset(place, at - json_end + first.error().offset, std::string(what) + first.error().what);
  bool is_brace = rest.starts_with('{');
  // What is too much for JSON is too much for YAML, which takes longer to find that out.
  if (json_values > 1 || first.error().is_limit) {
    at = text.size();
    return fail(std::move(json_error));
  }
  // Space up to the end of the line belongs to the value before; what comes then may be indentation.
  for (at = json_end; at < text.size() && kSpace.find(text[at]) != std::string_view::npos;)
    if (text[at++] == '\n') break;
  std::optional<Result<Document>> document = next_yaml();
  if (!document) return Document();
  if (!*document && is_brace && !builder.was_well_formed()) return fail(std::move(json_error));
  return std::move(*document);
}

std::optional<Result<Document>> Stream::Impl::next_yaml() {
  while (at < text.size() && is_separator(text, at)) {
    size_t end = end_of_line(text, at);
    std::string_view separator = text.substr(at, end - at);
    Place place = place_of(at, separator);
    at = end;
    if (is_clean_separator(separator)) continue;
    // What belongs to it cannot be told; the next clean separator ends it.
    while (at < text.size() && !is_separator(text, at)) at = end_of_line(text, at);
    return fail(error_at(place, 0, kSeparator.size(), "only a comment may follow the --- that separates documents"));
  }
  if (at == text.size()) return std::nullopt;
  size_t begin = at;
  // A search for a line break with dashes is faster than one line by line.
  size_t end = text.find("\n---", begin);
  at = end = end == std::string_view::npos ? text.size() : end + 1;
  return read_yaml(begin, end);
}

Result<Document> Stream::Impl::read_yaml(size_t begin, size_t end) {
  Place place = place_of(begin, text.substr(begin, end - begin));
  std::string terminated;
  if (!place.text.ends_with('\n')) {
    // Every line has an end for kubectl, and a block scalar keeps it.
    terminated.reserve(place.text.size() + 1);
    terminated.append(place.text).append("\n");
    place.text = terminated;
  }
  Result<Document> document = builder.build(place);
  if (document) return document;
  place.hide_values = may_be_secret(place.text);
  return place.hide_values ? builder.build(place) : std::move(document);
}

Result<Json> parse_one(std::string_view text, std::string_view name) {
  std::string converted;
  TRY_ASSIGN(std::string_view decoded, decode(text, name, converted));
  std::string terminated;
  if (!decoded.ends_with('\n')) decoded = terminated.append(decoded).append("\n");
  Limits limits;
  Builder builder(limits);
  TRY_ASSIGN(Document document, builder.build({.text = decoded, .name = name, .first_line = 1, .hide_values = true}));
  return std::move(document.value);
}

}  // namespace fairlead::yaml
