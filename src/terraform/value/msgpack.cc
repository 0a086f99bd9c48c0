#include "terraform/value/msgpack.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

namespace fairlead::terraform {
namespace {

constexpr int kMaxValueDepth = 250;
// A value takes some 100 times the memory of the byte that makes one.
constexpr size_t kMaxValues = 4'000'000;

std::unexpected<Error> malformed(std::string_view what) {
  return fail(ErrorKind::protocol, "a value is not valid MessagePack: {}", what);
}

// What one value starts with.
struct Head {
  enum class Kind { nil, boolean, integer, negative, real, text, array, map, extension };
  Kind kind = Kind::nil;
  // Of an integer, the bits of a negative one; 0 or 1; how many bytes, elements or members follow.
  uint64_t number = 0;
  double real = 0;
};

class MsgpackReader {
 public:
  explicit MsgpackReader(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }

  Result<Value> value(const Type& type, int depth) {
    if (depth > kMaxValueDepth)
      return fail(ErrorKind::limit, "a value is nested more than {} levels deep", kMaxValueDepth);
    if (++values_ > kMaxValues) return fail(ErrorKind::limit, "a value has more than {} parts", kMaxValues);
    TRY_ASSIGN(Head head, next());
    if (head.kind == Head::Kind::nil) return Value();
    if (head.kind == Head::Kind::extension) {
      TRY(bytes(head.number));
      return Value::unknown();
    }
    switch (type.kind()) {
      case Type::Kind::dynamic: return typed(head, depth);
      case Type::Kind::boolean:
        if (head.kind == Head::Kind::boolean) return Value(head.number != 0);
        break;
      case Type::Kind::number: return number(head);
      case Type::Kind::string:
        if (head.kind == Head::Kind::text) {
          TRY_ASSIGN(std::string_view text, bytes(head.number));
          return Value(text);
        }
        break;
      case Type::Kind::list:
      case Type::Kind::set:
      case Type::Kind::tuple:
        if (head.kind == Head::Kind::array) return items(head.number, type, depth);
        break;
      case Type::Kind::map:
      case Type::Kind::object:
        if (head.kind == Head::Kind::map) return members(head.number, type, depth);
        break;
    }
    return wrong(type);
  }

 private:
  static std::unexpected<Error> wrong(const Type& type) {
    return fail(ErrorKind::protocol, "a value is not a {}", type.text());
  }

  Result<std::string_view> bytes(uint64_t size) {
    if (size > rest_.size()) return malformed("it ends too early");
    std::string_view taken = rest_.substr(0, size_t(size));
    rest_.remove_prefix(size_t(size));
    return taken;
  }

  // Big-endian.
  Result<uint64_t> integer(size_t size) {
    TRY_ASSIGN(std::string_view raw, bytes(size));
    uint64_t value = 0;
    for (char c : raw) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }

  Result<Head> sized(Head::Kind kind, size_t size) {
    TRY_ASSIGN(uint64_t number, integer(size));
    return Head{.kind = kind, .number = number};
  }

  Result<Head> signed_of(size_t size) {
    TRY_ASSIGN(uint64_t raw, integer(size));
    unsigned shift = unsigned(64 - 8 * size);
    auto value = static_cast<int64_t>(raw << shift) >> shift;
    return Head{.kind = value < 0 ? Head::Kind::negative : Head::Kind::integer, .number = static_cast<uint64_t>(value)};
  }

  // An extension with the size of its payload; its type, which does not matter, counts as payload.
  Result<Head> extension(size_t size) {
    TRY_ASSIGN(uint64_t payload, integer(size));
    return Head{.kind = Head::Kind::extension, .number = payload + 1};
  }

  Result<Head> next() {
    using Kind = Head::Kind;
    TRY_ASSIGN(uint64_t byte, integer(1));
    if (byte < 0x80) return Head{.kind = Kind::integer, .number = byte};
    if (byte < 0x90) return Head{.kind = Kind::map, .number = byte & 0x0f};
    if (byte < 0xa0) return Head{.kind = Kind::array, .number = byte & 0x0f};
    if (byte < 0xc0) return Head{.kind = Kind::text, .number = byte & 0x1f};
    if (byte >= 0xe0) return Head{.kind = Kind::negative, .number = byte | ~uint64_t{0xff}};
    switch (byte) {
      case 0xc0: return Head{.kind = Kind::nil};
      case 0xc2: return Head{.kind = Kind::boolean, .number = 0};
      case 0xc3: return Head{.kind = Kind::boolean, .number = 1};
      case 0xc4:
      case 0xd9: return sized(Kind::text, 1);
      case 0xc5:
      case 0xda: return sized(Kind::text, 2);
      case 0xc6:
      case 0xdb: return sized(Kind::text, 4);
      case 0xc7: return extension(1);
      case 0xc8: return extension(2);
      case 0xc9: return extension(4);
      case 0xca: {
        TRY_ASSIGN(uint64_t raw, integer(4));
        return Head{.kind = Kind::real, .real = double{std::bit_cast<float>(static_cast<uint32_t>(raw))}};
      }
      case 0xcb: {
        TRY_ASSIGN(uint64_t raw, integer(8));
        return Head{.kind = Kind::real, .real = std::bit_cast<double>(raw)};
      }
      case 0xcc: return sized(Kind::integer, 1);
      case 0xcd: return sized(Kind::integer, 2);
      case 0xce: return sized(Kind::integer, 4);
      case 0xcf: return sized(Kind::integer, 8);
      case 0xd0: return signed_of(1);
      case 0xd1: return signed_of(2);
      case 0xd2: return signed_of(4);
      case 0xd3: return signed_of(8);
      case 0xd4: return Head{.kind = Kind::extension, .number = 2};
      case 0xd5: return Head{.kind = Kind::extension, .number = 3};
      case 0xd6: return Head{.kind = Kind::extension, .number = 5};
      case 0xd7: return Head{.kind = Kind::extension, .number = 9};
      case 0xd8: return Head{.kind = Kind::extension, .number = 17};
      case 0xdc: return sized(Kind::array, 2);
      case 0xdd: return sized(Kind::array, 4);
      case 0xde: return sized(Kind::map, 2);
      case 0xdf: return sized(Kind::map, 4);
      default: return malformed("a byte that starts no value");
    }
  }

  Result<Value> number(const Head& head) {
    if (head.kind == Head::Kind::integer) return Value(Number(head.number));
    if (head.kind == Head::Kind::negative) return Value(Number(static_cast<int64_t>(head.number)));
    if (head.kind == Head::Kind::real && std::isfinite(head.real)) return Value(Number::exactly(head.real));
    if (head.kind == Head::Kind::text) {
      TRY_ASSIGN(std::string_view text, bytes(head.number));
      if (std::optional<Number> value = Number::parse(text)) return Value(*std::move(value));
    }
    return wrong(Type::number());
  }

  Result<Value> typed(const Head& head, int depth) {
    if (head.kind != Head::Kind::array || head.number != 2) return malformed("a dynamic value is not a pair");
    TRY_ASSIGN(Head type_head, next());
    if (type_head.kind != Head::Kind::text) return malformed("a dynamic value has no type");
    TRY_ASSIGN(std::string_view text, bytes(type_head.number));
    TRY_ASSIGN(Json json, Json::parse(text));
    TRY_ASSIGN(Type type, Type::from_json(json));
    TRY_ASSIGN(Value value, this->value(type, depth + 1));
    // A pair in a pair: the inner one has the type.
    if (type.is(Type::Kind::dynamic)) return value;
    return std::move(value).with_type(std::move(type));
  }

  Result<Value> items(uint64_t count, const Type& type, int depth) {
    bool is_tuple = type.is(Type::Kind::tuple);
    // Each element takes a byte at least.
    if (count > rest_.size()) return malformed("it ends too early");
    if (is_tuple && count != type.elements().size()) return wrong(type);
    Value::Items items;
    for (size_t i = 0; i < count; ++i) {
      TRY_ASSIGN(Value item, value(is_tuple ? type.elements()[i] : type.element(), depth + 1));
      items.push_back(std::move(item));
    }
    return type.is(Type::Kind::set) ? Value::set(std::move(items)) : Value::list(std::move(items));
  }

  Result<Value> members(uint64_t count, const Type& type, int depth) {
    bool is_map = type.is(Type::Kind::map);
    Value::Members members;
    for (uint64_t i = 0; i < count; ++i) {
      TRY_ASSIGN(Head head, next());
      if (head.kind != Head::Kind::text) return malformed("a key is not text");
      TRY_ASSIGN(std::string_view key, bytes(head.number));
      const Type* of = is_map ? &type.element() : nullptr;
      if (auto field = type.fields().find(key); !is_map && field != type.fields().end()) of = &field->second;
      if (!of) return fail(ErrorKind::protocol, "a value has an attribute \"{}\", which its schema has not", key);
      TRY_ASSIGN(Value member, value(*of, depth + 1));
      if (!members.emplace(std::string(key), std::move(member)).second) return malformed("a key comes twice");
    }
    if (!is_map)
      for (const auto& [name, unused] : type.fields()) members.try_emplace(name);
    return Value::object(std::move(members));
  }

  std::string_view rest_;
  size_t values_ = 0;
};

class MsgpackWriter {
 public:
  std::string take() { return std::move(out_); }

  Result<void> value(const Value& value, const Type& type, int depth) {
    if (depth > kMaxValueDepth)
      return fail(ErrorKind::limit, "a value is nested more than {} levels deep", kMaxValueDepth);
    if (type.is(Type::Kind::dynamic)) return typed(value, depth);
    if (value.is_null()) return byte(0xc0);
    // An extension of type 0 with one byte in it, which is how Terraform itself writes it.
    if (value.is_unknown()) {
      out_.append("\xd4\x00\x00", 3);
      return {};
    }
    switch (type.kind()) {
      case Type::Kind::boolean:
        if (const bool* flag = value.if_bool()) return byte(*flag ? 0xc3 : 0xc2);
        break;
      case Type::Kind::number:
        if (const Number* number = value.if_number()) return this->number(*number);
        break;
      case Type::Kind::string:
        if (const std::string* string = value.if_string()) return text(*string);
        break;
      case Type::Kind::list:
      case Type::Kind::set:
      case Type::Kind::tuple:
        if (value.is_list() || value.is_set()) return items(value.items(), type, depth);
        break;
      case Type::Kind::map:
      case Type::Kind::object:
        if (value.is_object()) return members(value.members(), type, depth);
        break;
      case Type::Kind::dynamic: break;
    }
    return fail(ErrorKind::internal, "it is not a {}", type.text());
  }

 private:
  Result<void> byte(unsigned value) {
    out_ += static_cast<char>(value);
    return {};
  }

  void integer(uint64_t value, size_t size) {
    for (size_t i = size; i-- > 0;) out_ += static_cast<char>(value >> (8 * i));
  }

  // The head of something with a size: in the byte itself where it is small, else behind the code for its width.
  void head(uint64_t size, unsigned small, uint64_t most_small, unsigned code16, unsigned code32) {
    if (size <= most_small) {
      out_ += static_cast<char>(small | size);
    } else if (size <= 0xffff) {
      out_ += static_cast<char>(code16);
      integer(size, 2);
    } else {
      out_ += static_cast<char>(code32);
      integer(size, 4);
    }
  }

  Result<void> text(std::string_view text) {
    if (text.size() > std::numeric_limits<uint32_t>::max()) return fail(ErrorKind::limit, "a text has more than 4 GiB");
    if (text.size() > 31 && text.size() <= 0xff) {
      out_ += static_cast<char>(0xd9);
      integer(text.size(), 1);
    } else {
      head(text.size(), 0xa0, 31, 0xda, 0xdb);
    }
    out_ += text;
    return {};
  }

  Result<void> number(const Number& number) {
    if (std::optional<int64_t> value = number.as_int64()) {
      if (*value >= 0 && *value < 0x80) return byte(unsigned(*value));
      out_ += static_cast<char>(0xd3);
      integer(static_cast<uint64_t>(*value), 8);
      return {};
    }
    if (std::optional<uint64_t> value = number.as_uint64()) {
      out_ += static_cast<char>(0xcf);
      integer(*value, 8);
      return {};
    }
    if (std::optional<double> value = number.as_exact_double()) {
      out_ += static_cast<char>(0xcb);
      integer(std::bit_cast<uint64_t>(*value), 8);
      return {};
    }
    return text(number.text());
  }

  Result<void> typed(const Value& value, int depth) {
    // Without a type of its own, null and unknown are of any type.
    bool is_plain = !value.is_known() && (!value.dynamic_type() || value.dynamic_type()->is(Type::Kind::dynamic));
    if (value.is_null() && is_plain) return byte(0xc0);
    if (is_plain) {
      out_.append("\xd4\x00\x00", 3);
      return {};
    }
    Type type = value.natural_type();
    if (type.is(Type::Kind::dynamic)) return fail(ErrorKind::internal, "a dynamic value has no type");
    std::string json = type.to_json().dump();
    out_ += static_cast<char>(0x92);
    out_ += static_cast<char>(0xc6);
    integer(json.size(), 4);
    out_ += json;
    return this->value(value, type, depth + 1);
  }

  Result<void> items(const Value::Items& items, const Type& type, int depth) {
    bool is_tuple = type.is(Type::Kind::tuple);
    if (is_tuple && items.size() != type.elements().size())
      return fail(ErrorKind::internal, "it has {} elements, not {}", items.size(), type.elements().size());
    head(items.size(), 0x90, 15, 0xdc, 0xdd);
    for (size_t i = 0; i < items.size(); ++i) {
      if (Result<void> done = value(items[i], is_tuple ? type.elements()[i] : type.element(), depth + 1); !done)
        return fail(std::move(done).error().in(fmt::format("[{}] is wrong", i)));
    }
    return {};
  }

  Result<void> members(const Value::Members& members, const Type& type, int depth) {
    static const Value kNull;
    if (type.is(Type::Kind::map)) {
      head(members.size(), 0x80, 15, 0xde, 0xdf);
      for (const auto& [key, member] : members) {
        TRY(text(key));
        TRY(within(value(member, type.element(), depth + 1), key));
      }
      return {};
    }
    for (const auto& [key, unused] : members)
      if (!type.fields().contains(key)) return fail(ErrorKind::internal, "there is no attribute \"{}\"", key);
    head(type.fields().size(), 0x80, 15, 0xde, 0xdf);
    for (const auto& [key, field] : type.fields()) {
      auto found = members.find(key);
      TRY(text(key));
      TRY(within(value(found == members.end() ? kNull : found->second, field, depth + 1), key));
    }
    return {};
  }

  static Result<void> within(Result<void> result, std::string_view where) {
    if (result) return result;
    return fail(std::move(result).error().in(fmt::format("{} is wrong", where)));
  }

  std::string out_;
};

}  // namespace

Result<Value> decode_msgpack(std::string_view bytes, const Type& type) {
  MsgpackReader reader(bytes);
  TRY_ASSIGN(Value value, reader.value(type, 0));
  if (!reader.at_end()) return malformed("something follows it");
  return value;
}

Result<std::string> encode_msgpack(const Value& value, const Type& type) {
  MsgpackWriter writer;
  TRY(writer.value(value, type, 0));
  return writer.take();
}

}  // namespace fairlead::terraform
