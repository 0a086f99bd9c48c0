#include "sandbox/verbs/internal/read.h"

#include <fmt/format.h>

#include <charconv>

#include "sandbox/core/continue_token.h"
#include "sandbox/verbs/internal/conversion.h"
#include "sandbox/verbs/internal/selection.h"
#include "sandbox/verbs/internal/table.h"

namespace fairlead::sandbox {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Status not_acceptable(bool streams) {
  std::string_view more = ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
  return {406, "NotAcceptable",
          fmt::format("406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
                      "application/vnd.kubernetes.protobuf{}",
                      streams ? more : ""),
          Json::Object{}};
}

Status options_invalid(Cause cause) { return invalid("meta.k8s.io", "ListOptions", "", {std::move(cause)}); }

constexpr std::string_view kInconsistent =
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list.";

}  // namespace

Outcome<void> check_list_options(const Query& query) {
  std::string_view match = query.get("resourceVersionMatch");
  std::string_view version = query.get("resourceVersion");
  bool watch = query.flag("watch");
  if (query.has("sendInitialEvents") && !watch)
    return refuse(options_invalid(forbidden_field("sendInitialEvents", "sendInitialEvents is forbidden for list")));
  if (watch && query.has("sendInitialEvents") && match != "NotOlderThan") {
    std::vector<Cause> causes{forbidden_field(
        "resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")};
    if (!match.empty()) causes.push_back(unsupported_value("resourceVersionMatch", Json(match), {"NotOlderThan"}));
    return refuse(invalid("meta.k8s.io", "ListOptions", "", causes));
  }
  if (match.empty()) return {};
  if (watch && !query.has("sendInitialEvents"))
    return refuse(options_invalid(forbidden_field(
        "resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")));
  if (!watch && version.empty())
    return refuse(options_invalid(forbidden_field(
        "resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided")));
  if (query.has("continue") && !query.get("continue").empty())
    return refuse(options_invalid(
        forbidden_field("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")));
  if (match != "Exact" && match != "NotOlderThan")
    return refuse(
        options_invalid(unsupported_value("resourceVersionMatch", Json(match), {"Exact", "NotOlderThan", ""})));
  if (match == "Exact" && version == "0")
    return refuse(options_invalid(forbidden_field(
        "resourceVersionMatch", "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"")));
  return {};
}

Outcome<Form> negotiate(std::string_view accept, bool streams) {
  if (accept.empty()) return Form::object;
  bool unknown_form = false;
  for (std::string_view rest = accept; !rest.empty();) {
    size_t comma = rest.find(',');
    std::string_view clause = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    size_t semicolon = clause.find(';');
    std::string_view type = trimmed(clause.substr(0, semicolon));
    if (type != "application/json" && type != "*/*" && type != "application/*") continue;
    std::string_view parameters = semicolon == std::string_view::npos ? std::string_view() : clause.substr(semicolon);
    if (parameters.find("as=Table") != std::string_view::npos) {
      bool known = parameters.find("v=v1;") != std::string_view::npos || parameters.ends_with("v=v1");
      if (known) return Form::table;
      unknown_form = true;
      continue;
    }
    if (parameters.find("as=PartialObjectMetadata") != std::string_view::npos) return Form::partial;
    if (parameters.find("as=") != std::string_view::npos) continue;
    return Form::object;
  }
  if (unknown_form)
    return refuse(Status{406,
                         "NotAcceptable",
                         "only the following media types are accepted: application/json, application/yaml, "
                         "application/vnd.kubernetes.protobuf",
                         {}});
  return refuse(not_acceptable(streams));
}

Outcome<Form> form_for(const Kind& kind, const Call& call, bool streams) {
  Outcome<Form> form = negotiate(call.accept, streams);
  std::string_view include = call.route.query.get("includeObject");
  if (form && *form == Form::table && !include.empty() && include != "Metadata" && include != "Object" &&
      include != "None")
    return refuse(
        bad_request(fmt::format("Unable to convert to Table as requested: includeObject: Invalid value: \"{}\": "
                                "must be 'Metadata', 'Object', 'None', or empty",
                                include)));
  if (form && *form == Form::table && !has_cells(kind)) return Form::object;
  return form;
}

Json partial_metadata(const Json& object) {
  return Json::Object{
      {"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", object["metadata"]}};
}

namespace {

// "/example.com/things/team/x"
std::string storage_key(const Kind& kind, const Json& stored, std::string_view prefix) {
  std::string key(prefix);
  const Json& metadata = stored["metadata"];
  for (std::string_view step : {std::string_view(kind.group), std::string_view(kind.resource),
                                metadata["namespace"].string_or(""), metadata["name"].string_or("")})
    if (!step.empty()) key += fmt::format("/{}", step);
  return key;
}

// What the storage says of an object that cannot be decoded.
std::string corrupt(const Kind& kind, const Json& stored, std::string_view prefix, const Status& why) {
  return fmt::format("StorageError: corrupt object, Code: 7, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: {}",
                     storage_key(kind, stored, prefix), why.message);
}

// Each object is decoded by itself. All that cannot be are told of, up to a hundred.
Task<Outcome<Json::Array>> read_all(ApiServer& server, const Kind& kind, Json::Array items) {
  constexpr size_t kMost = 100;
  constexpr std::string_view kPrefix = "/registry";
  Json::Array causes;
  for (Json& item : items) {
    Outcome<Json> object = co_await in_version(server, kind, item);
    if (object) {
      item = *std::move(object);
      continue;
    }
    if (object.error().code != 500) co_return refuse(object.error());
    causes.push_back(Json::Object{{"reason", "UnexpectedServerResponse"},
                                  {"message", corrupt(kind, item, kPrefix, undecodable(item, object.error()))},
                                  {"field", storage_key(kind, item, kPrefix)}});
    if (causes.size() < kMost) continue;
    causes.push_back(
        Json::Object{{"reason", "FieldValueTooMany"}, {"message", "too many errors, the list is truncated"}});
    break;
  }
  if (causes.empty()) co_return std::move(items);
  size_t objects = std::min(causes.size(), kMost);
  std::string message = fmt::format("failed to read one or more {} from the storage: {}", qualified(kind.id()),
                                    causes[0]["message"].string_or(""));
  if (objects > 1) message += fmt::format(" (and {} more)", objects - 1);
  Json::Object details{{"name", "list"}};
  if (!kind.group.empty()) details.append("group", kind.group);
  details.append("kind", kind.resource);
  details.append("causes", std::move(causes));
  co_return refuse({500, "StorageReadError", std::move(message), std::move(details)});
}

}  // namespace

Task<Outcome<Json>> in_version(ApiServer& server, const Kind& kind, const Json& stored) {
  if (kind.version == kind.storage_version && stored["apiVersion"].string_or("") == kind.api_version())
    co_return Json(stored);
  Json::Array objects{stored};
  Outcome<Json::Array> converted = co_await convert(server, kind, kind.api_version(), std::move(objects));
  if (!converted) co_return refuse(converted.error());
  co_return std::move((*converted)[0]);
}

Status undecodable(const Json& stored, Status why) {
  // What the sandbox cannot do is not an error of the object.
  if (why.code != 500) return why;
  why.message = fmt::format("object not decodable revision={}: {}", stored["metadata"]["resourceVersion"].string_or(""),
                            why.message);
  return why;
}

Task<Outcome<Json>> read_stored(ApiServer& server, const Kind& kind, const Json& stored) {
  Outcome<Json> object = co_await in_version(server, kind, stored);
  if (object || object.error().code != 500) co_return object;
  co_return refuse(internal_error(corrupt(kind, stored, "", undecodable(stored, object.error()))));
}

Outcome<std::optional<uint64_t>> requested_version(const Core& core, std::string_view text) {
  if (text.empty()) return std::nullopt;
  uint64_t version = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error == std::errc::result_out_of_range)
    return refuse(
        bad_request(fmt::format("invalid resource version: resourceVersion: Invalid value: \"{0}\": "
                                "strconv.ParseUint: parsing \"{0}\": value out of range",
                                text)));
  if (error != std::errc() || end != text.data() + text.size())
    return refuse(
        bad_request(fmt::format("invalid resource version: resourceVersion: Invalid value: \"{0}\": "
                                "strconv.ParseUint: parsing \"{0}\": invalid syntax",
                                text)));
  if (version > core.store.version()) {
    Json::Array causes{Json::Object{{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}}};
    Status status{504, "Timeout",
                  fmt::format("Timeout: Too large resource version: {}, current: {}", version, core.store.version()),
                  Json::Object{{"causes", std::move(causes)}, {"retryAfterSeconds", 1}}};
    status.retry_after = 1;
    return refuse(std::move(status));
  }
  return version;
}

Task<Outcome<Reply>> get_object(ApiServer& server, Call& call, const Kind& kind) {
  CO_TRY_ASSIGN(Form form, form_for(kind, call, false));
  const Core& core = server.core();
  CO_TRY(requested_version(core, call.route.query.get("resourceVersion")));
  ObjectPtr found = core.store.find(kind.stored_as, {call.route.ns, call.route.name});
  if (!found) co_return refuse(not_found(kind.id(), call.route.name));
  CO_TRY_ASSIGN(Json object, co_await read_stored(server, kind, *found));
  if (form == Form::partial) co_return Reply::of(partial_metadata(object));
  if (form == Form::table) {
    Json metadata = Json::Object{{"resourceVersion", object["metadata"]["resourceVersion"]}};
    Json::Array objects{std::move(object)};
    co_return Reply::of(
        table_of(core, kind, objects, std::move(metadata), call.route.query.get("includeObject"), true));
  }
  co_return Reply::of(std::move(object));
}

Task<Outcome<Reply>> list_objects(ApiServer& server, Call& call, const Kind& kind) {
  const Query& query = call.route.query;
  const Core& core = server.core();
  CO_TRY_ASSIGN(Form form, form_for(kind, call, true));
  CO_TRY_ASSIGN(Selection selection, Selection::parse(kind, call.route));
  CO_TRY(check_list_options(query));

  int64_t limit = 0;
  std::string_view limit_text = query.get("limit");
  std::from_chars(limit_text.data(), limit_text.data() + limit_text.size(), limit);
  uint64_t version = core.store.version();
  std::optional<Place> after;
  bool one_namespace = !call.route.ns.empty();
  if (std::string_view token = query.get("continue"); !token.empty()) {
    if (std::string_view given = query.get("resourceVersion"); !given.empty() && given != "0")
      co_return refuse(bad_request("specifying resource version is not allowed when using continue"));
    CO_TRY_ASSIGN(ContinueToken from, ContinueToken::parse(token, kind.namespaced, call.route.ns));
    after = from.after;
    if (from.version != 0) {
      if (from.version < core.store.compacted()) {
        Status status = expired(std::string(kInconsistent));
        status.metadata = Json::Object{{"continue", ContinueToken{0, from.after}.text(kind.namespaced, one_namespace)}};
        co_return refuse(std::move(status));
      }
      version = std::min(version, from.version);
    }
  } else {
    CO_TRY_ASSIGN(std::optional<uint64_t> wanted, requested_version(core, query.get("resourceVersion")));
    bool exact = query.get("resourceVersionMatch") == "Exact" ||
                 (wanted.value_or(0) > 0 && limit > 0 && query.get("resourceVersionMatch").empty());
    if (exact && wanted) {
      if (*wanted < core.store.compacted())
        co_return refuse(expired("The resourceVersion for the provided list is too old."));
      version = *wanted;
    }
  }

  Store::Objects older;
  const Store::Objects* objects = &core.store.all(kind.stored_as);
  if (version < core.store.version()) {
    older = core.store.all_at(kind.stored_as, version);
    objects = &older;
  }
  Json::Array items;
  int64_t remaining = 0;
  Place last;
  for (auto at = after ? objects->upper_bound(*after) : objects->begin(); at != objects->end(); ++at) {
    if (!selection.matches(at->first, *at->second)) continue;
    if (limit > 0 && int64_t(items.size()) >= limit) {
      ++remaining;
      continue;
    }
    items.push_back(*at->second);
    last = at->first;
  }
  CO_TRY_ASSIGN(items, co_await read_all(server, kind, std::move(items)));

  Json::Object metadata{{"resourceVersion", std::to_string(version)}};
  if (remaining > 0) {
    metadata.append("continue", ContinueToken{version, last}.text(kind.namespaced, one_namespace));
    if (!selection.selects()) metadata.append("remainingItemCount", remaining);
  }
  if (form == Form::table)
    co_return Reply::of(table_of_list(core, kind, items, std::move(metadata), query.get("includeObject")));
  bool partial = form == Form::partial;
  if (partial) {
    for (Json& item : items) item = partial_metadata(item);
  } else if (!kind.custom) {
    for (Json& item : items) {
      item.if_object()->erase("kind");
      item.if_object()->erase("apiVersion");
    }
  }
  co_return Reply::of(Json::Object{{"kind", partial ? "PartialObjectMetadataList" : kind.list_kind},
                                   {"apiVersion", partial ? "meta.k8s.io/v1" : kind.api_version()},
                                   {"metadata", std::move(metadata)},
                                   {"items", std::move(items)}});
}

}  // namespace fairlead::sandbox
