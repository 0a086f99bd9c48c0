#include "yaml/internal/builder.h"

#include "yaml/internal/parser.h"
#include "yaml/internal/problem.h"
#include "yaml/internal/scalar.h"

namespace fairlead::yaml {
namespace {

// Beyond this many keys they are found by hash, not by a scan.
constexpr size_t kManyKeys = 24;

std::string_view view(const yaml_char_t* text) {
  return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
}

struct Size {
  size_t values = 0;
  size_t bytes = 0;
  size_t height = 0;
};

void measure(const Json& value, size_t height, Size& size) {
  ++size.values;
  size.height = std::max(size.height, height);
  size.bytes += sizeof(Json);
  if (const std::string* text = value.if_string()) size.bytes += text->size();
  for (const Json& item : value.items()) measure(item, height + 1, size);
  for (const Json::Member& member : value.members()) {
    size.bytes += sizeof(std::string) + member.key.size();
    measure(member.value, height + 1, size);
  }
}

}  // namespace

void Builder::Open::reset(bool object, const yaml_char_t* anchor_name) {
  is_object = object;
  if (object) value = Json::Object();
  else value = Json::Array();
  has_key = false;
  key_is_merge = false;
  anchor = view(anchor_name);
  key_lines.clear();
  if (!index.empty()) index.clear();
}

std::optional<size_t> Builder::Open::find(const std::string& wanted) {
  const Json::Object& members = *value.if_object();
  if (members.size() <= kManyKeys) {
    for (size_t i = 0; i < members.size(); ++i)
      if (members.begin()[i].key == wanted) return i;
    return std::nullopt;
  }
  if (index.empty())
    for (size_t i = 0; i < members.size(); ++i) index.emplace(members.begin()[i].key, i);
  auto found = index.find(wanted);
  return found == index.end() ? std::nullopt : std::optional(found->second);
}

void Builder::Open::append(std::string new_key, Json new_value) {
  Json::Object& members = *value.if_object();
  if (!index.empty()) index.emplace(new_key, members.size());
  members.append(std::move(new_key), std::move(new_value));
}

Result<Document> Builder::build(const Place& place) {
  place_ = &place;
  document_ = Document();
  document_.line = place.first_line;
  depth_ = documents_ = values_ = copied_values_ = copied_bytes_ = 0;
  well_formed_ = false;
  anchors_.clear();
  if (place.text.size() > limits_.document_bytes)
    return refuse(
        {},
        fmt::format("the document has {} bytes, over the limit of {} bytes", place.text.size(), limits_.document_bytes),
        ErrorKind::limit);

  Parser parser(place.text);
  if (!parser.ready) return fail(ErrorKind::internal, "no memory for the YAML parser");
  do {
    if (!parser.next()) return fail(syntax_error(parser.parser));
    TRY(take(parser.event));
  } while (parser.event.type != YAML_STREAM_END_EVENT);
  document_.values = values_;
  return std::move(document_);
}

Result<void> Builder::take(const yaml_event_t& event) {
  switch (event.type) {
    case YAML_DOCUMENT_START_EVENT:
      if (++documents_ > 1) return refuse(event.start_mark, "a second document starts here; only one is expected");
      if (const yaml_version_directive_t* version = event.data.document_start.version_directive;
          version && (version->major != 1 || version->minor != 1))
        return refuse(event.start_mark,
                      fmt::format("this is YAML {}.{}; Kubernetes reads YAML 1.1", version->major, version->minor));
      return {};
    case YAML_SCALAR_EVENT: return take_scalar(event);
    case YAML_ALIAS_EVENT: return take_alias(event);
    case YAML_SEQUENCE_START_EVENT: return open(false, event);
    case YAML_MAPPING_START_EVENT: return open(true, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return close();
    default: return {};
  }
}

void Builder::note_start(const yaml_event_t& event) {
  ++values_;
  if (depth_ == 0) document_.line = place_->first_line + event.start_mark.line;
  if (depth_ == 2 && !opened_[1].is_object && opened_[0].is_object && opened_[0].key == "items")
    document_.item_lines.push_back(uint32_t(place_->first_line + event.start_mark.line));
}

Result<void> Builder::take_scalar(const yaml_event_t& event) {
  const auto& data = event.data.scalar;
  note_start(event);
  Scalar scalar{.text = {reinterpret_cast<const char*>(data.value), data.length},
                .tag = view(data.tag),
                .plain = data.plain_implicit != 0};
  std::expected<Json, std::string> resolved = resolve(scalar);
  if (!resolved) return refuse(event.start_mark, std::move(resolved.error()));
  if (data.anchor) keep_anchor(std::string(view(data.anchor)), *resolved);

  bool at_key = depth_ > 0 && opened_[depth_ - 1].is_object && !opened_[depth_ - 1].has_key;
  if (at_key && scalar.text == "<<" && (scalar.plain || scalar.tag == "tag:yaml.org,2002:merge")) {
    Open& object = opened_[depth_ - 1];
    object.key = "<<";
    object.has_key = object.key_is_merge = true;
    return {};
  }
  return place({.value = std::move(*resolved), .is_scalar = true, .mark = event.start_mark});
}

Result<void> Builder::take_alias(const yaml_event_t& event) {
  note_start(event);
  std::string_view name = view(event.data.alias.anchor);
  // After the asterisk may stand a secret that should have been quoted.
  std::string quoted = place_->hide_values ? "" : fmt::format(" \"{}\"", name);
  auto found = anchors_.find(name);
  if (found == anchors_.end())
    return refuse(event.start_mark,
                  fmt::format("no anchor{} comes before this alias; quote it if it is meant as text", quoted));
  const Anchor& anchor = found->second;
  if (!anchor.complete) return refuse(event.start_mark, fmt::format("the value of anchor{} contains itself", quoted));
  TRY(charge_copy(anchor.values, anchor.bytes, event.start_mark));
  if (depth_ + anchor.height > limits_.depth)
    return refuse(event.start_mark, fmt::format("nested deeper than {} levels", limits_.depth), ErrorKind::limit);
  values_ += anchor.values;
  return place({.value = anchor.value, .is_scalar = anchor.height == 0, .is_alias = true, .mark = event.start_mark});
}

Result<void> Builder::open(bool object, const yaml_event_t& event) {
  note_start(event);
  if (depth_ >= limits_.depth)
    return refuse(event.start_mark, fmt::format("nested deeper than {} levels", limits_.depth), ErrorKind::limit);
  if (values_ > limits_.values)
    return refuse(event.start_mark, fmt::format("the document has more than {} values", limits_.values),
                  ErrorKind::limit);
  const yaml_char_t* anchor = object ? event.data.mapping_start.anchor : event.data.sequence_start.anchor;
  if (anchor) anchors_[std::string(view(anchor))] = Anchor();
  if (opened_.size() == depth_) opened_.emplace_back();
  opened_[depth_].reset(object, anchor);
  opened_[depth_++].mark = event.start_mark;
  return {};
}

Result<void> Builder::close() {
  Open& closed = opened_[--depth_];
  if (!closed.anchor.empty()) {
    Size size;
    measure(closed.value, 1, size);
    // Keeping it costs a copy, and anchors can be nested.
    TRY(charge_copy(size.values, size.bytes, closed.mark));
    anchors_[closed.anchor] = {
        .complete = true, .value = closed.value, .values = size.values, .bytes = size.bytes, .height = size.height};
  }
  return place({.value = std::move(closed.value), .mark = closed.mark});
}

Result<void> Builder::place(Arrived arrived) {
  if (depth_ > 0) {
    Open& parent = opened_[depth_ - 1];
    if (parent.is_object && !parent.has_key) return take_key(std::move(arrived));
    if (parent.is_object && parent.key_is_merge) return merge(parent, std::move(arrived));
  }
  if (values_ > limits_.values)
    return refuse(arrived.mark, fmt::format("the document has more than {} values", limits_.values), ErrorKind::limit);
  if (arrived.value.is_double() && arrived.is_scalar) {
    std::expected<Json, std::string> value = as_value(std::move(arrived.value));
    if (!value) return refuse(arrived.mark, std::move(value.error()));
    arrived.value = std::move(*value);
  }
  if (depth_ == 0) {
    document_.value = std::move(arrived.value);
    return {};
  }
  Open& parent = opened_[depth_ - 1];
  if (!parent.is_object) {
    parent.value.if_array()->push_back(std::move(arrived.value));
    return {};
  }
  parent.has_key = false;
  if (parent.key_index) parent.value.if_object()->begin()[*parent.key_index].value = std::move(arrived.value);
  else parent.append(std::move(parent.key), std::move(arrived.value));
  return {};
}

Result<void> Builder::take_key(Arrived arrived) {
  Open& object = opened_[depth_ - 1];
  std::expected<std::string, std::string> key = as_key(std::move(arrived.value));
  if (!key) return refuse(arrived.mark, std::move(key.error()));
  object.key = std::move(*key);
  object.has_key = true;
  object.key_is_merge = false;
  object.key_index = object.find(object.key);
  uint32_t line = uint32_t(place_->first_line + arrived.mark.line);
  if (!object.key_index) {
    object.key_lines.push_back(line);
    return {};
  }
  uint32_t& earlier = object.key_lines[*object.key_index];
  if (earlier != 0)
    return refuse(arrived.mark, fmt::format("key \"{}\" comes twice, first in line {}", object.key, earlier));
  earlier = line;
  return {};
}

Result<void> Builder::merge(Open& into, Arrived arrived) {
  into.has_key = into.key_is_merge = false;
  // Of several objects the first that has a key decides, and what is set last wins: so from the last to the first.
  Json::Array sources;
  if (Json::Array* several = arrived.value.if_array(); several && !arrived.is_alias) sources = std::move(*several);
  else sources.push_back(std::move(arrived.value));
  for (auto source = sources.rbegin(); source != sources.rend(); ++source) {
    if (!source->is_object())
      return refuse(arrived.mark, "the value of a merge key << must be an object, or an array of objects");
    for (Json::Member& member : *source->if_object()) {
      if (std::optional<size_t> known = into.find(member.key)) {
        into.value.if_object()->begin()[*known].value = std::move(member.value);
      } else {
        into.append(std::move(member.key), std::move(member.value));
        into.key_lines.push_back(0);
      }
    }
  }
  return {};
}

void Builder::keep_anchor(std::string name, const Json& value) {
  const std::string* text = value.if_string();
  anchors_[std::move(name)] = {.complete = true, .value = value, .bytes = sizeof(Json) + (text ? text->size() : 0)};
}

Result<void> Builder::charge_copy(size_t values, size_t bytes, yaml_mark_t mark) {
  copied_values_ += values;
  copied_bytes_ += bytes;
  if (copied_values_ <= limits_.copied_values && copied_bytes_ <= limits_.copied_bytes) return {};
  return refuse(mark,
                fmt::format("anchors and aliases expand to more than {} values or {} bytes", limits_.copied_values,
                            limits_.copied_bytes),
                ErrorKind::limit);
}

std::unexpected<Error> Builder::refuse(yaml_mark_t mark, std::string what, ErrorKind kind) {
  well_formed_ = true;
  return fail(error_at(*place_, mark.line, mark.column, std::move(what), kind));
}

Error Builder::syntax_error(const yaml_parser_t& parser) const {
  if (parser.error == YAML_READER_ERROR)
    return error_at_offset(*place_, parser.problem_offset, "not valid YAML: " + describe_reader_problem(parser));
  Problem problem = describe_problem(parser, *place_);
  return error_at(*place_, problem.line, problem.column, "not valid YAML: " + problem.what);
}

}  // namespace fairlead::yaml
