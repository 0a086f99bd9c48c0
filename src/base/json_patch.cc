#include "base/json_patch.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/go_kind.h"

namespace fairlead {
namespace {

constexpr size_t kMaxDepth = 200;
constexpr size_t kMaxCopied = size_t{3} << 20;
// Members looked at and items moved: a list that grows at its front is moved once an item.
constexpr size_t kMaxWork = 50'000'000;

std::unexpected<Error> invalid(std::string what) { return fail(Error(ErrorKind::invalid, std::move(what))); }

size_t depth_of(const Json& value) {
  size_t deepest = 0;
  for (const Json& item : value.items()) deepest = std::max(deepest, depth_of(item));
  for (const auto& [key, member] : value.members()) deepest = std::max(deepest, depth_of(member));
  return deepest + 1;
}

std::vector<std::string> steps_of(std::string_view path) {
  std::vector<std::string> steps(1);
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '/') {
      steps.emplace_back();
    } else if (path[i] == '~' && i + 1 < path.size() && (path[i + 1] == '0' || path[i + 1] == '1')) {
      steps.back() += path[++i] == '0' ? '~' : '/';
    } else {
      steps.back() += path[i];
    }
  }
  return steps;
}

Result<int64_t> index_in(std::string_view key) {
  std::string_view digits = key;
  if (digits.starts_with('+') && digits.size() > 1 && digits[1] != '-') digits.remove_prefix(1);
  int64_t index = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error == std::errc() && end == digits.data() + digits.size() && !digits.empty()) return index;
  std::string quoted;
  append_json_string(quoted, key);
  return invalid(fmt::format("strconv.Atoi: parsing {}: {}", quoted,
                             error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax"));
}

std::unexpected<Error> invalid_index(int64_t index) {
  return invalid(fmt::format("Unable to access invalid index: {}: invalid index referenced", index));
}

class Application {
 public:
  explicit Application(Json document) : document_(std::move(document)) {}

  Result<Json> run(const Json& patch) {
    for (const Json& operation : patch.items()) TRY(apply(operation));
    return std::move(document_);
  }

 private:
  struct Place {
    Json* parent = nullptr;
    std::string key;
    size_t depth = 0;
  };

  // What comes before the first slash is not looked at; a path without one leads nowhere.
  Result<Place> find(std::string_view path) {
    std::vector<std::string> steps = steps_of(path);
    Place place{.parent = nullptr, .key = {}, .depth = steps.size()};
    if (steps.size() < 2) return place;
    Json* at = &document_;
    for (size_t i = 1; i + 1 < steps.size() && at != nullptr; ++i) {
      Result<Json*> next = get(*at, steps[i]);
      if (!next && next.error().kind() == ErrorKind::limit) return fail(std::move(next).error());
      at = next ? *next : nullptr;
    }
    if (at == nullptr || !(at->is_array() || at->is_object())) return place;
    place.parent = at;
    place.key = std::move(steps.back());
    return place;
  }

  Result<void> work(size_t amount) {
    work_ += amount + 1;
    if (work_ > kMaxWork) return fail(ErrorKind::limit, "the patch takes more work than is done for one");
    return {};
  }

  // Null where an object has no such member.
  Result<Json*> get(Json& parent, std::string_view key) {
    if (Json::Object* object = parent.if_object()) {
      TRY(work(object->size()));
      return object->find(key);
    }
    Json::Array* array = parent.if_array();
    if (array == nullptr) return nullptr;
    TRY_ASSIGN(int64_t index, index_in(key));
    auto size = static_cast<int64_t>(array->size());
    if (index < -size || index >= size) return invalid_index(index);
    return &(*array)[static_cast<size_t>(index < 0 ? index + size : index)];
  }

  Result<void> add(const Place& place, Json value) {
    if (place.depth + depth_of(value) > kMaxDepth)
      return fail(ErrorKind::limit, "the patch nests deeper than is allowed");
    if (Json::Object* object = place.parent->if_object()) {
      TRY(work(object->size()));
      (*object)[place.key] = std::move(value);
      return {};
    }
    Json::Array& array = *place.parent->if_array();
    if (place.key == "-") {
      array.push_back(std::move(value));
      return {};
    }
    Result<int64_t> index = index_in(place.key);
    if (!index)
      return invalid(fmt::format("value was not a proper array index: '{}': {}", place.key, index.error().what()));
    auto size = static_cast<int64_t>(array.size()) + 1;
    if (*index < -size || *index >= size) return invalid_index(*index);
    int64_t at = *index < 0 ? *index + size : *index;
    TRY(work(static_cast<size_t>(size - at)));
    array.insert(array.begin() + at, std::move(value));
    return {};
  }

  Result<void> remove(const Place& place) {
    if (Json::Object* object = place.parent->if_object()) {
      TRY(work(object->size()));
      if (!object->erase(place.key))
        return invalid(fmt::format("Unable to remove nonexistent key: {}: missing value", place.key));
      return {};
    }
    Json::Array& array = *place.parent->if_array();
    TRY_ASSIGN(int64_t index, index_in(place.key));
    auto size = static_cast<int64_t>(array.size());
    if (index < -size || index >= size) return invalid_index(index);
    int64_t at = index < 0 ? index + size : index;
    TRY(work(static_cast<size_t>(size - at)));
    array.erase(array.begin() + at);
    return {};
  }

  // Words before an error, which stays what it is.
  static std::unexpected<Error> wrapped(const Error& error, const std::string& words) {
    return fail(Error(error.kind(), words + ": " + error.what()));
  }

  static Result<std::string> text_in(const Json& operation, std::string_view field, std::string_view missing) {
    const Json& value = operation[field];
    if (value.is_null()) return invalid(fmt::format("{}: missing value", missing));
    if (const std::string* text = value.if_string()) return *text;
    return invalid(fmt::format("json: cannot unmarshal {} into Go value of type string", go_kind(value)));
  }

  Result<void> apply(const Json& operation) {
    std::string_view kind = operation["op"].string_or("unknown");
    if (kind == "add") return apply_add(operation);
    if (kind == "remove") return apply_remove(operation);
    if (kind == "replace") return apply_replace(operation);
    if (kind == "move") return apply_move(operation);
    if (kind == "test") return apply_test(operation);
    if (kind == "copy") return apply_copy(operation);
    return invalid(fmt::format("Unexpected kind: {}", kind));
  }

  Result<void> apply_add(const Json& operation) {
    Result<std::string> path = text_in(operation, "path", "");
    if (!path) return invalid("add operation failed to decode path: missing value");
    TRY_ASSIGN(Place place, find(*path));
    if (place.parent == nullptr)
      return invalid(fmt::format("add operation does not apply: doc is missing path: \"{}\": missing value", *path));
    Result<void> added = add(place, operation["value"]);
    if (!added) return wrapped(added.error(), fmt::format("error in add for path: '{}'", *path));
    return {};
  }

  Result<void> apply_remove(const Json& operation) {
    Result<std::string> path = text_in(operation, "path", "");
    if (!path) return invalid("remove operation failed to decode path: missing value");
    TRY_ASSIGN(Place place, find(*path));
    if (place.parent == nullptr)
      return invalid(fmt::format("remove operation does not apply: doc is missing path: \"{}\": missing value", *path));
    Result<void> removed = remove(place);
    if (!removed) return wrapped(removed.error(), fmt::format("error in remove for path: '{}'", *path));
    return {};
  }

  Result<void> apply_replace(const Json& operation) {
    Result<std::string> path = text_in(operation, "path", "operation missing path field");
    if (!path) return wrapped(path.error(), "replace operation failed to decode path");
    const Json& value = operation["value"];
    if (path->empty()) {
      // The server's words end in what Go prints of an error that is not there.
      if (!value.is_object() && !value.is_array())
        return invalid("replace operation value must be object or array: %!w(<nil>)");
      document_ = value;
      return {};
    }
    TRY_ASSIGN(Place place, find(*path));
    if (place.parent == nullptr)
      return invalid(fmt::format("replace operation does not apply: doc is missing path: {}: missing value", *path));
    if (place.parent->is_object()) return add(place, value);
    Result<Json*> held = get(*place.parent, place.key);
    if (!held)
      return invalid(fmt::format("replace operation does not apply: doc is missing key: {}: missing value", *path));
    if (place.depth + depth_of(value) > kMaxDepth)
      return fail(ErrorKind::limit, "the patch nests deeper than is allowed");
    **held = value;
    return {};
  }

  Result<void> apply_move(const Json& operation) {
    Result<std::string> from = text_in(operation, "from", "operation, missing from field");
    if (!from) return wrapped(from.error(), "move operation failed to decode from");
    TRY_ASSIGN(Place source, find(*from));
    if (source.parent == nullptr)
      return invalid(fmt::format("move operation does not apply: doc is missing from path: {}: missing value", *from));
    std::string words = fmt::format("error in move for path: '{}'", source.key);
    Result<Json*> held = get(*source.parent, source.key);
    if (!held) return wrapped(held.error(), words);
    Json value = *held != nullptr ? **held : Json();
    Result<void> removed = remove(source);
    if (!removed) return wrapped(removed.error(), words);
    Result<std::string> path = text_in(operation, "path", "operation missing path field");
    if (!path) return wrapped(path.error(), "move operation failed to decode path");
    TRY_ASSIGN(Place target, find(*path));
    if (target.parent == nullptr)
      return invalid(
          fmt::format("move operation does not apply: doc is missing destination path: {}: missing value", *path));
    Result<void> added = add(target, std::move(value));
    if (!added) return wrapped(added.error(), fmt::format("error in move for path: '{}'", *path));
    return {};
  }

  Result<void> apply_test(const Json& operation) {
    Result<std::string> path = text_in(operation, "path", "operation missing path field");
    if (!path) return wrapped(path.error(), "test operation failed to decode path");
    auto failed = [&] { return invalid(fmt::format("testing value {} failed: test failed", *path)); };
    const Json& expected = operation["value"];
    if (path->empty()) {
      if (!document_.same_as(expected)) return failed();
      return {};
    }
    TRY_ASSIGN(Place place, find(*path));
    if (place.parent == nullptr)
      return invalid(fmt::format("test operation does not apply: is missing path: {}: missing value", *path));
    Result<Json*> held = get(*place.parent, place.key);
    if (!held) return wrapped(held.error(), fmt::format("error in test for path: '{}'", *path));
    // A member that is not there equals null, but only one that is asked for.
    bool same = *held == nullptr ? operation.contains("value") && expected.is_null() : (*held)->same_as(expected);
    if (!same) return failed();
    return {};
  }

  Result<void> apply_copy(const Json& operation) {
    Result<std::string> from = text_in(operation, "from", "operation, missing from field");
    if (!from) return wrapped(from.error(), "copy operation failed to decode from");
    TRY_ASSIGN(Place source, find(*from));
    if (source.parent == nullptr)
      return invalid(fmt::format("copy operation does not apply: doc is missing from path: {}: missing value", *from));
    Result<Json*> held = get(*source.parent, source.key);
    if (!held) return wrapped(held.error(), fmt::format("error in copy for from: '{}'", *from));
    Json value = *held != nullptr ? **held : Json();
    Result<std::string> path = text_in(operation, "path", "");
    if (!path) return invalid("copy operation failed to decode path: missing value");
    TRY_ASSIGN(Place target, find(*path));
    if (target.parent == nullptr)
      return invalid(
          fmt::format("copy operation does not apply: doc is missing destination path: {}: missing value", *path));
    copied_ += value.dump().size();
    if (copied_ > kMaxCopied)
      return fail(ErrorKind::limit,
                  "Unable to complete the copy, the accumulated size increase of copy is {}, exceeding the limit {}",
                  copied_, kMaxCopied);
    Result<void> added = add(target, std::move(value));
    if (!added) return wrapped(added.error(), "error while adding value during copy");
    return {};
  }

  Json document_;
  size_t work_ = 0;
  size_t copied_ = 0;
};

void drop_nulls(Json& value) {
  if (Json::Object* object = value.if_object()) {
    Json::Object kept;
    for (auto& [key, member] : *object) {
      if (member.is_null()) continue;
      drop_nulls(member);
      kept.append(std::move(key), std::move(member));
    }
    *object = std::move(kept);
  } else if (Json::Array* array = value.if_array()) {
    for (Json& item : *array) drop_nulls(item);
  }
}

Result<void> merge(Json::Object& target, const Json::Object& patch, size_t& work) {
  for (const auto& [key, change] : patch) {
    work += target.size() + 1;
    if (work > kMaxWork) return fail(ErrorKind::limit, "the patch takes more work than is done for one");
    if (change.is_null()) {
      target.erase(key);
      continue;
    }
    Json& held = target[key];
    if (held.is_object() && change.is_object()) {
      TRY(merge(*held.if_object(), *change.if_object(), work));
      continue;
    }
    // Where an object is replaced by something else, what is put there stays as it is.
    bool keep_nulls = held.is_object();
    held = change;
    if (!keep_nulls) drop_nulls(held);
  }
  return {};
}

}  // namespace

Result<void> check_json_patch(const Json& patch) {
  if (!patch.is_array() && !patch.is_null())
    return invalid(fmt::format("json: cannot unmarshal {} into Go value of type jsonpatch.Patch", go_kind(patch)));
  for (const Json& operation : patch.items())
    if (!operation.is_object() && !operation.is_null())
      return invalid(
          fmt::format("json: cannot unmarshal {} into Go value of type jsonpatch.Operation", go_kind(operation)));
  return {};
}

Result<Json> apply_json_patch(Json document, const Json& patch) {
  TRY(check_json_patch(patch));
  return Application(std::move(document)).run(patch);
}

Result<Json> apply_merge_patch(Json document, const Json& patch) {
  if (document.is_null()) return invalid("Invalid JSON Document");
  if (!patch.is_object() && !patch.is_array()) return invalid("Invalid JSON Patch");
  if (!document.is_object() || !patch.is_object()) {
    Json result = patch;
    drop_nulls(result);
    return result;
  }
  size_t work = 0;
  TRY(merge(*document.if_object(), *patch.if_object(), work));
  return document;
}

}  // namespace fairlead
