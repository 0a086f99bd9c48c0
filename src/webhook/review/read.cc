#include <algorithm>
#include <array>
#include <optional>

#include "base/printable.h"
#include "webhook/review/review.h"

namespace fairlead::webhook {
namespace {

constexpr size_t kMaxUid = 256;

std::string_view with_article(const Json& value) {
  if (value.is_null()) return "missing";
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return "a string";
  return value.is_bool() ? "a boolean" : "a number";
}

// Reads the members of an object, and remembers the first one that is of a wrong type.
class Reader {
 public:
  Reader(Json& object, std::string path) : object_(object), path_(std::move(path)) {}

  std::string text(std::string_view key) {
    Json* value = find(key);
    if (!value || value->is_null()) return {};
    if (std::string* text = value->if_string()) return std::move(*text);
    complain(key, "a string", *value);
    return {};
  }
  bool flag(std::string_view key) {
    const Json* value = find(key);
    if (!value || value->is_null()) return false;
    if (const bool* flag = value->if_bool()) return *flag;
    complain(key, "a boolean", *value);
    return false;
  }
  // An object, or null.
  Json object(std::string_view key) {
    Json* value = find(key);
    if (!value || value->is_null()) return {};
    if (value->is_object()) return std::move(*value);
    complain(key, "an object", *value);
    return {};
  }
  std::vector<std::string> texts(std::string_view key) {
    Json* value = find(key);
    std::vector<std::string> texts;
    if (!value || value->is_null()) return texts;
    if (!value->is_array()) complain(key, "a list", *value);
    for (Json& item : value->is_array() ? *value->if_array() : none_) {
      if (std::string* text = item.if_string()) texts.push_back(std::move(*text));
      else complain(key, "a list of strings", item);
    }
    return texts;
  }
  void take_problem_of(const Reader& other) {
    if (!problem_) problem_ = other.problem_;
  }
  Result<void> result() const {
    if (problem_) return fail(*problem_);
    return {};
  }
  std::string path(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }

 private:
  Json* find(std::string_view key) { return object_.is_object() ? object_.if_object()->find(key) : nullptr; }
  void complain(std::string_view key, std::string_view wanted, const Json& value) {
    if (problem_) return;
    problem_ =
        Error(ErrorKind::invalid, fmt::format("{} must be {}, and is {}", path(key), wanted, with_article(value)));
  }

  Json& object_;
  std::string path_;
  std::optional<Error> problem_;
  Json::Array none_;
};

// A key that comes twice is named by the reader of JSON. It is part of the object.
std::string without_key(std::string message) {
  size_t begin = message.find("key \""), end = message.rfind("\" comes twice");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return message;
  return message.replace(begin, end + 1 - begin, "a key");
}

Result<Json> parse_document(std::string_view body) {
  Result<Json> document = Json::parse(body, {.bytes = body.size(), .values = kMaxValues});
  if (!document)
    return fail(
        Error(document.error().kind(), without_key(document.error().message())).in("the review cannot be read"));
  if (!document->is_object()) return fail(ErrorKind::invalid, "the review must be a JSON object");
  return document;
}

// The part of its apiVersion behind the group.
Result<std::string> version_of(const Json& document, std::string_view kind, std::string_view group) {
  std::string_view api_version = document["apiVersion"].string_or("");
  std::string_view actual_kind = document["kind"].string_or("");
  for (std::string_view version : {"v1", "v1beta1"})
    if (actual_kind == kind && api_version == fmt::format("{}/{}", group, version)) return std::string(version);
  auto shown = [](std::string_view text) {
    return text.empty() ? "none" : fmt::format("\"{}\"", printable_line(text.substr(0, 100)));
  };
  return fail(ErrorKind::protocol, "expected {} of {}/v1 or {}/v1beta1, but apiVersion is {} and kind is {}", kind,
              group, group, shown(api_version), shown(actual_kind));
}

Result<std::string> uid_of(Reader& request) {
  std::string uid = request.text("uid");
  TRY(request.result());
  if (uid.empty()) return fail(ErrorKind::invalid, "request.uid is missing");
  if (uid.size() > kMaxUid) return fail(ErrorKind::limit, "request.uid has more than {} bytes", kMaxUid);
  return uid;
}

Result<admission::Operation> operation_of(Reader& request) {
  std::string name = request.text("operation");
  TRY(request.result());
  using admission::Operation;
  for (Operation operation : {Operation::create, Operation::update, Operation::remove, Operation::connect})
    if (name == admission::name_of(operation)) return operation;
  return fail(ErrorKind::invalid, "request.operation must be CREATE, UPDATE, DELETE or CONNECT, and is {}",
              name.empty() ? "missing" : fmt::format("\"{}\"", printable_line(name.substr(0, 100))));
}

void read_kind_and_resource(Reader& request, Request& into) {
  Json kind = request.object("kind");
  Reader kind_reader(kind, request.path("kind"));
  into.kind = {
      .group = kind_reader.text("group"), .version = kind_reader.text("version"), .kind = kind_reader.text("kind")};
  request.take_problem_of(kind_reader);
  Json resource = request.object("resource");
  Reader resource_reader(resource, request.path("resource"));
  into.resource = {.group = resource_reader.text("group"),
                   .version = resource_reader.text("version"),
                   .resource = resource_reader.text("resource")};
  request.take_problem_of(resource_reader);
}

void read_user(Reader& request, admission::User& into) {
  Json user = request.object("userInfo");
  Reader reader(user, request.path("userInfo"));
  into.name = reader.text("username");
  into.uid = reader.text("uid");
  into.groups = reader.texts("groups");
  into.extra = reader.object("extra");
  request.take_problem_of(reader);
}

// What each operation has to bring.
Result<void> check_objects(const Request& request) {
  using admission::Operation;
  bool needs_object = request.operation == Operation::create || request.operation == Operation::update;
  bool needs_old = request.operation == Operation::update;
  if (needs_object && request.object.is_null())
    return fail(ErrorKind::invalid, "request.object is missing in a review of {}", name_of(request.operation));
  if (needs_old && request.old_object.is_null())
    return fail(ErrorKind::invalid, "request.oldObject is missing in a review of UPDATE");
  return {};
}

}  // namespace

Result<AdmissionReview> read_admission_review(std::string_view body) {
  TRY_ASSIGN(Json document, parse_document(body));
  TRY_ASSIGN(std::string version, version_of(document, "AdmissionReview", "admission.k8s.io"));
  AdmissionReview review;
  review.version = version == "v1" ? admission::ReviewVersion::v1 : admission::ReviewVersion::v1beta1;
  Reader outer(document, "");
  Json request_json = outer.object("request");
  TRY(outer.result());
  if (request_json.is_null()) return fail(ErrorKind::invalid, "request is missing");
  Reader request(request_json, "request");
  Request& into = review.request;
  TRY_ASSIGN(into.uid, uid_of(request));
  TRY_ASSIGN(into.operation, operation_of(request));
  read_kind_and_resource(request, into);
  into.subresource = request.text("subResource");
  into.ns = request.text("namespace");
  into.name = request.text("name");
  read_user(request, into.user);
  into.object = request.object("object");
  into.old_object = request.object("oldObject");
  into.dry_run = request.flag("dryRun");
  into.options = request.object("options");
  TRY(request.result());
  TRY(check_objects(into));
  return review;
}

Result<ConversionReview> read_conversion_review(std::string_view body) {
  TRY_ASSIGN(Json document, parse_document(body));
  TRY_ASSIGN(std::string version, version_of(document, "ConversionReview", "apiextensions.k8s.io"));
  ConversionReview review{
      .api_version = "apiextensions.k8s.io/" + version, .uid = {}, .desired_api_version = {}, .objects = {}};
  Reader outer(document, "");
  Json request_json = outer.object("request");
  TRY(outer.result());
  if (request_json.is_null()) return fail(ErrorKind::invalid, "request is missing");
  Reader request(request_json, "request");
  TRY_ASSIGN(review.uid, uid_of(request));
  review.desired_api_version = request.text("desiredAPIVersion");
  TRY(request.result());
  Json* objects = request_json.if_object()->find("objects");
  if (!objects || !objects->is_array())
    return fail(ErrorKind::invalid, "request.objects must be a list, and is {}",
                with_article(objects ? *objects : Json()));
  review.objects = std::move(*objects->if_array());
  for (size_t i = 0; i < review.objects.size(); ++i)
    if (!review.objects[i].is_object())
      return fail(ErrorKind::invalid, "request.objects[{}] must be an object, and is {}", i,
                  with_article(review.objects[i]));
  return review;
}

}  // namespace fairlead::webhook
