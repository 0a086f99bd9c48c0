#include "sandbox/wire/protobuf.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>

#include "base/base64.h"
#include "protobuf/wire.h"
#include "sandbox/wire/internal/protobuf_messages.h"

namespace fairlead::sandbox {
namespace {

using protobuf::WireField;
using protobuf::WireReader;
using protobuf::WireType;
using Holds = ProtobufField::Holds;

constexpr std::string_view kPrefix("k8s\0", 4);
// Schemas nest as deep as they like. A message makes at most two levels of JSON, which is read no deeper than 200.
constexpr int kDepth = 64;
constexpr size_t kRawDepth = 60;

// Where the first byte that is no UTF-8 stands; the size if there is none.
size_t utf8_length(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    auto byte = [&](size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
    unsigned lead = byte(i);
    size_t size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (size == 0) return i;
    for (size_t k = 1; k < size; ++k)
      if ((byte(i + k) & 0xc0) != 0x80) return i;
    unsigned second = byte(i + 1);
    bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
    bool beyond = (lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f);
    if (overlong || beyond) return i;
    i += size;
  }
  return i;
}

Result<Json> text_of(std::string_view bytes) {
  // A Go string takes any bytes; JSON does not.
  if (utf8_length(bytes) != bytes.size()) return fail(ErrorKind::limit, "text that is no UTF-8");
  return Json(bytes);
}

Result<Json> time_of(const Json& parts, bool micro) {
  if (parts.members().empty()) return Json();
  constexpr int64_t kYear1 = -62135596800, kYear10000 = 253402300800;
  int64_t seconds = parts["seconds"].int_or(0), nanos = parts["nanos"].int_or(0);
  if (seconds < kYear1 || seconds >= kYear10000 || nanos < 0 || nanos >= 1'000'000'000)
    return fail(ErrorKind::limit, "a time outside of the years 1 to 9999");
  std::chrono::sys_seconds at{std::chrono::seconds(seconds)};
  auto day = std::chrono::floor<std::chrono::days>(at);
  std::chrono::year_month_day date(day);
  std::chrono::hh_mm_ss clock(at - day);
  std::string fraction = micro ? fmt::format(".{:06}", nanos / 1000) : "";
  return Json(fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z", int(date.year()), unsigned(date.month()),
                          unsigned(date.day()), clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                          fraction));
}

// Lists and objects before what stands beside them.
Json member_that_is_set(Json::Object members) {
  for (Json::Member& member : members)
    if ((member.value.is_array() && !member.value.items().empty()) || member.value.is_object())
      return std::move(member.value);
  return members.empty() ? Json() : std::move(members.begin()->value);
}

class Decoder {
 public:
  Result<Json> message(const ProtobufMessage& message, std::string_view bytes) {
    Json::Object members;
    TRY(fields(message, bytes, members));
    switch (message.form) {
      case 't': return time_of(std::move(members), false);
      case 'u': return time_of(std::move(members), true);
      case 'o': return member_that_is_set(std::move(members));
      case 'x': {
        Json parts = std::move(members);
        bool text = parts["type"].int_or(0) == 1;
        return text ? Json(parts["strVal"].string_or("")) : Json(parts["intVal"].int_or(0));
      }
      default: return Json(std::move(members));
    }
  }

 private:
  class Deeper {
   public:
    explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
    ~Deeper() { --depth_; }

   private:
    int& depth_;
  };

  Result<void> fields(const ProtobufMessage& message, std::string_view bytes, Json::Object& members) {
    Deeper deeper(depth_);
    if (depth_ > kDepth) return fail(ErrorKind::limit, "a value that is deeper than {} messages", kDepth);
    std::string_view name = message.name.substr(message.name.rfind('.') + 1);
    std::vector<bool> seen(message.fields.size());
    WireReader reader(bytes, name);
    while (!reader.at_end()) {
      TRY_ASSIGN(WireField wire, reader.next());
      auto field = std::find_if(message.fields.begin(), message.fields.end(),
                                [&](const ProtobufField& one) { return one.number == wire.number; });
      // A field that the server does not know is passed over.
      if (field == message.fields.end()) continue;
      auto index = size_t(field - message.fields.begin());
      if (field->holds == Holds::one && seen[index])
        return fail(ErrorKind::limit, "a field that comes twice: {}.{}", message.name, field->name);
      bool first = !seen[index];
      seen[index] = true;
      if (field->name.empty()) {
        TRY(check_type(*field, wire, WireType::bytes));
        TRY(fields(*field->message, wire.bytes, members));
        continue;
      }
      if (field->holds == Holds::one) {
        TRY_ASSIGN(Json value, value_of(*field, wire));
        members.append(std::string(field->name), std::move(value));
        continue;
      }
      if (first)
        members.append(std::string(field->name), field->holds == Holds::list ? Json(Json::Array{}) : Json::Object{});
      Json& many = *members.find(field->name);
      TRY(field->holds == Holds::list ? add_item(*field, wire, *many.if_array())
                                      : add_entry(*field, wire, *many.if_object()));
    }
    for (size_t i = 0; i < seen.size(); ++i)
      if (seen[i] && message.fields[i].holds == Holds::map)
        in_order(*members.find(message.fields[i].name)->if_object());
    return {};
  }

  static Result<void> check_type(const ProtobufField& field, const WireField& wire, WireType wanted) {
    if (wire.type == wanted) return {};
    return fail(ErrorKind::invalid, "proto: wrong wireType = {} for field {}", int(wire.type), go_name(field.name));
  }

  // The name of the Go field, as far as the name in JSON tells it.
  static std::string go_name(std::string_view name) {
    if (name == "metadata") return "ObjectMeta";
    std::string text(name);
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = char(text[0] - 'a' + 'A');
    return text;
  }

  Result<Json> value_of(const ProtobufField& field, const WireField& wire) {
    switch (field.type) {
      case 'b':
      case 'i':
      case 'l': {
        TRY(check_type(field, wire, WireType::varint));
        if (field.type == 'b') return Json(wire.value != 0);
        if (field.type == 'i') return Json(int64_t{static_cast<int32_t>(static_cast<uint32_t>(wire.value))});
        return Json(static_cast<int64_t>(wire.value));
      }
      case 'n': {
        TRY(check_type(field, wire, WireType::fixed64));
        double number = std::bit_cast<double>(wire.value);
        if (!std::isfinite(number)) return fail(ErrorKind::limit, "a number that is none in JSON");
        return Json(number);
      }
      default: break;
    }
    TRY(check_type(field, wire, WireType::bytes));
    if (field.type == 's') return text_of(wire.bytes);
    if (field.type == 'y') return Json(to_base64(wire.bytes));
    if (field.type == '@') return message(*field.message, wire.bytes);
    if (wire.bytes.empty()) return Json();
    Result<Json> raw = Json::parse(wire.bytes, {.depth = kRawDepth});
    if (!raw) return fail(ErrorKind::limit, "bytes that are no JSON: {}", raw.error().message());
    return raw;
  }

  Result<void> add_item(const ProtobufField& field, const WireField& wire, Json::Array& items) {
    bool is_number = field.type == 'i' || field.type == 'l';
    if (is_number && wire.type == WireType::bytes) {
      // Packed: one after the other.
      WireReader packed(wire.bytes, field.name);
      while (!packed.at_end()) {
        TRY_ASSIGN(uint64_t number, packed.varint());
        TRY_ASSIGN(Json value, value_of(field, {wire.number, WireType::varint, number, {}}));
        items.push_back(std::move(value));
      }
      return {};
    }
    TRY_ASSIGN(Json value, value_of(field, wire));
    items.push_back(std::move(value));
    return {};
  }

  // An entry is a message of its own: 1 is the key, 2 the value.
  Result<void> add_entry(const ProtobufField& field, const WireField& wire, Json::Object& entries) {
    TRY(check_type(field, wire, WireType::bytes));
    std::string key;
    std::optional<WireField> value;
    WireReader reader(wire.bytes, field.name);
    while (!reader.at_end()) {
      TRY_ASSIGN(WireField part, reader.next());
      if (part.number == 2) value = part;
      if (part.number != 1) continue;
      TRY(check_type(field, part, WireType::bytes));
      TRY_ASSIGN(Json text, text_of(part.bytes));
      key = text.string_or("");
    }
    if (!value) value = WireField{2, WireType::bytes, 0, {}};
    TRY_ASSIGN(Json json, value_of(field, *value));
    entries.append(std::move(key), std::move(json));
    return {};
  }

  // By key, as Go writes maps; the last of several counts.
  static void in_order(Json::Object& entries) {
    std::map<std::string, Json> sorted;
    for (Json::Member& entry : entries) sorted.insert_or_assign(std::move(entry.key), std::move(entry.value));
    Json::Object kept;
    for (auto& [key, value] : sorted) kept.append(key, std::move(value));
    entries = std::move(kept);
  }

  int depth_ = 0;
};

struct Envelope {
  std::string_view api_version, kind, raw;
};

Result<Envelope> open_envelope(std::string_view bytes) {
  Envelope envelope;
  WireReader reader(bytes, "Unknown");
  while (!reader.at_end()) {
    TRY_ASSIGN(WireField field, reader.next());
    if (field.number < 1 || field.number > 2) continue;
    if (field.type != WireType::bytes)
      return fail(ErrorKind::invalid, "proto: wrong wireType = {} for field {}", int(field.type),
                  field.number == 1 ? "TypeMeta" : "Raw");
    if (field.number == 2) {
      envelope.raw = field.bytes;
      continue;
    }
    WireReader meta(field.bytes, "TypeMeta");
    while (!meta.at_end()) {
      TRY_ASSIGN(WireField part, meta.next());
      if (part.number == 1) envelope.api_version = part.bytes;
      if (part.number == 2) envelope.kind = part.bytes;
    }
  }
  return envelope;
}

// "rbac.authorization.k8s.io/v1" and "Role": rbac.v1.Role. Every group has the options of requests.
std::string message_name(std::string_view api_version, std::string_view kind) {
  if (kind == "DeleteOptions") return "meta.v1.DeleteOptions";
  size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return fmt::format("core.{}.{}", api_version, kind);
  std::string_view group = api_version.substr(0, slash);
  return fmt::format("{}.{}.{}", group.substr(0, group.find('.')), api_version.substr(slash + 1), kind);
}

// Only what is a kind: everything that has metadata, and the options.
const ProtobufMessage* find_kind(const Envelope& envelope) {
  const ProtobufMessage* message = find_protobuf_message(message_name(envelope.api_version, envelope.kind));
  if (!message || message->form != 0) return nullptr;
  bool is_kind = message->fields.front().name == "metadata" || envelope.kind == "DeleteOptions";
  return is_kind ? message : nullptr;
}

}  // namespace

Result<Json> decode_protobuf(std::string_view body) {
  if (body.empty()) return fail(ErrorKind::invalid, "empty data");
  if (!body.starts_with(kPrefix))
    return fail(ErrorKind::invalid,
                "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  if (body.size() == kPrefix.size()) return fail(ErrorKind::invalid, "empty body");
  TRY_ASSIGN(Envelope envelope, open_envelope(body.substr(kPrefix.size())));
  TRY_ASSIGN(Json api_version, text_of(envelope.api_version));
  TRY_ASSIGN(Json kind, text_of(envelope.kind));
  std::string version(envelope.api_version.substr(envelope.api_version.find('/') + 1));
  std::string what = fmt::format("{} in version \"{}\"", envelope.kind, version);
  const ProtobufMessage* message = find_kind(envelope);
  if (!message)
    return fail(Error(ErrorKind::protocol, fmt::format("no kind \"{}\" is registered for version \"{}\" in scheme "
                                                       "\"pkg/runtime/scheme.go:111\"",
                                                       envelope.kind, envelope.api_version))
                    .in(std::move(what)));
  Result<Json> decoded = Decoder().message(*message, envelope.raw);
  if (!decoded && decoded.error().kind() == ErrorKind::limit) return decoded;
  if (!decoded) return fail(Error(ErrorKind::protocol, decoded.error().what()).in(std::move(what)));
  Json object = *std::move(decoded);
  Json::Object named{{"kind", std::move(kind)}, {"apiVersion", std::move(api_version)}};
  for (Json::Member& member : *object.if_object()) named.append(std::move(member.key), std::move(member.value));
  return Json(std::move(named));
}

}  // namespace fairlead::sandbox
