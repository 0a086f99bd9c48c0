#include "terraform/data/object_data.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "diff/yaml_text.h"
#include "terraform/objects/attributes.h"
#include "terraform/objects/reference.h"
#include "terraform/objects/words.h"
#include "terraform/projection/projection.h"
#include "terraform/wait/waiting.h"

namespace fairlead::terraform {
namespace {

std::vector<Attribute> inputs() {
  std::vector<Attribute> attributes{
      {.name = "api_version", .required = true, .description = "For example `apps/v1`."},
      {.name = "kind", .required = true, .description = "For example `Deployment`."},
      optional_attribute("namespace", Type::string(), "The default namespace of the connection if it is not set."),
      {.name = "name", .required = true, .description = "The name of the object."},
      cluster_attribute(),
      wait_for_attribute(false)};
  for (Attribute& attribute : wait_timeout_attributes()) attributes.push_back(std::move(attribute));
  return attributes;
}

const Schema& object_data_schema() {
  static const Schema kSchema = [] {
    Schema schema{
        .version = 0,
        .description =
            "An object that is in the cluster. If another resource of the same configuration creates it, name "
            "that resource in `depends_on`: then it is read during the apply, after the resource.",
        .attributes = inputs(),
        .blocks = {}};
    schema.attributes.push_back(computed_attribute("object", Type::dynamic(), "The object: `object.spec.clusterIP`."));
    schema.attributes.push_back(computed_attribute("manifest", Type::string(), "The object as JSON."));
    schema.attributes.push_back(computed_attribute("yaml_body", Type::string(), "The object as YAML."));
    return schema;
  }();
  return kSchema;
}

const Schema& ephemeral_schema() {
  static const Schema kSchema = [] {
    Schema schema{.version = 0,
                  .description = "An object that is in the cluster, read anew in each run and stored nowhere.",
                  .attributes = inputs(),
                  .blocks = {}};
    Attribute object = computed_attribute("object", Type::dynamic(), "The object.");
    Attribute data = computed_attribute("data", Type::map(Type::string()), "The decoded data of a Secret.");
    object.sensitive = data.sensitive = true;
    schema.attributes.push_back(std::move(object));
    schema.attributes.push_back(std::move(data));
    return schema;
  }();
  return kSchema;
}

// Strings of Terraform are UTF-8.
bool is_utf8(const std::string& text) { return Json::parse(Json(text).dump()).has_value(); }

Json without_bookkeeping(Json object) {
  if (object["metadata"].is_object()) object.make("metadata").if_object()->erase("managedFields");
  return object;
}

struct ReadObject {
  Json object;
  // The connection is not known before apply.
  bool is_unknown = false;
  Diagnostics diagnostics;
};

// `if_created` is what to do if the same configuration creates the object.
Task<ReadObject> read_live(Context& context, Value config, std::string if_created) {
  ReadObject result;
  std::optional<Reference> reference = reference_of(config);
  if (!reference) {
    result.diagnostics.error("There is no such object", "api_version, kind and name have to name one.", "api_version");
    co_return result;
  }
  Result<Connection*> cluster = co_await context.clusters().connect(config["cluster"]);
  if (cluster && !*cluster) {
    result.is_unknown = true;
    co_return result;
  }
  if (!cluster) {
    result.diagnostics.error(Error(cluster.error()).in(headline("The cluster cannot be used", reference->key)),
                             "cluster");
    co_return result;
  }
  bool waits = config["wait_for"].is_known() || config["existence_timeout"].is_known();
  if (waits) {
    Awaited awaited = co_await wait_for_object(context, **cluster, *reference, Waiting::read(config));
    result.object = std::move(awaited.object);
    if (awaited.error) result.diagnostics.error(*awaited.error, "wait_for");
    if (awaited.error || !result.object.is_null()) co_return result;
  }
  constexpr std::string_view kNotRead = "The object could not be read";
  kube::Discovery& discovery = (*cluster)->discovery();
  auto kind = co_await discovery.find(reference->key.group, reference->version(), reference->kind());
  if (!kind) {
    result.diagnostics.error(refused(kNotRead, reference->key, kind.error()), "cluster");
    co_return result;
  }
  if (!*kind) {
    result.diagnostics.error(
        Error(ErrorKind::not_found, headline(kNotRead, reference->key))
            .because(discovery.known().missing(reference->key.group, reference->version(), reference->kind()))
            .next("if the same configuration creates its CRD: " + if_created),
        "kind");
    co_return result;
  }
  if (!(*kind)->namespaced) reference->key.ns.clear();
  else if (reference->key.ns.empty()) reference->key.ns = (*cluster)->default_namespace();
  auto live = co_await (*cluster)->client().get(**kind, reference->key.ns, reference->key.name);
  if (live) {
    result.object = std::move(live->value);
  } else if (live.error().is(kube::FaultKind::not_found)) {
    result.diagnostics.error(Error(ErrorKind::not_found, headline("The object does not exist", reference->key))
                                 .next(fmt::format("if the same configuration creates it: {}; if something else "
                                                   "does: existence_timeout = \"5m\"",
                                                   if_created)),
                             "name");
  } else {
    result.diagnostics.error(refused(kNotRead, reference->key, live.error()), "cluster");
  }
  co_return result;
}

void add_unknown_cluster(Diagnostics& diagnostics) {
  diagnostics.error("The cluster is not known yet",
                    "The provider block gets its values from a resource of the same run.\n"
                    "  next      depends_on = [that resource], so that the object is read during the apply",
                    "cluster");
}

class ObjectDataSource final : public DataSource {
 public:
  std::string_view name() const override { return "fairlead_object"; }
  const Schema& schema() const override { return object_data_schema(); }

  Task<Diagnostics> validate(Context& context, Value config) override {
    Diagnostics found = context.clusters().check(config["cluster"], "cluster");
    if (!config["wait_for"].is_null()) found.add(check_waiting(config));
    co_return found;
  }

  Task<DataResponse> read(Context& context, Value config) override {
    DataResponse response;
    ReadObject read = co_await read_live(context, config, "depends_on = [...]");
    response.diagnostics = std::move(read.diagnostics);
    if (read.is_unknown && context.capabilities().deferral_allowed) {
      response.deferred = Deferred::provider_config_unknown;
      response.state = std::move(config);
      for (const char* name : {"object", "manifest", "yaml_body"}) response.state.make(name) = Value::unknown();
    } else if (read.is_unknown) {
      add_unknown_cluster(response.diagnostics);
    } else if (!response.diagnostics.has_errors()) {
      Json object = without_bookkeeping(with_hashed_secrets(std::move(read.object), {}));
      response.state = std::move(config);
      response.state.make("object") = Value::from_json(object);
      response.state.make("manifest") = object.dump();
      response.state.make("yaml_body") = diff::yaml_text(object);
    }
    co_return response;
  }
};

class EphemeralObject final : public EphemeralResource {
 public:
  std::string_view name() const override { return "fairlead_object"; }
  const Schema& schema() const override { return ephemeral_schema(); }

  Task<Diagnostics> validate(Context& context, Value config) override {
    Diagnostics found = context.clusters().check(config["cluster"], "cluster");
    if (!config["wait_for"].is_null()) found.add(check_waiting(config));
    co_return found;
  }

  Task<OpenResponse> open(Context& context, Value config) override {
    OpenResponse response;
    // Terraform opens it during the plan, too, whatever it depends on, unless an argument is not known yet.
    std::string name(config["name"].string_or(""));
    std::string wait_for_id = fmt::format("name = fairlead_object.NAME.id == \"\" ? \"\" : \"{}\"", name);
    ReadObject read = co_await read_live(context, config, std::move(wait_for_id));
    response.diagnostics = std::move(read.diagnostics);
    if (read.is_unknown && context.capabilities().deferral_allowed)
      response.deferred = Deferred::provider_config_unknown;
    else if (read.is_unknown) add_unknown_cluster(response.diagnostics);
    if (read.is_unknown || response.diagnostics.has_errors()) co_return response;
    Value::Members data;
    for (const Json::Member& member : read.object["data"].members()) {
      std::string_view text = member.value.string_or("");
      bool is_secret = read.object["kind"].string_or("") == "Secret";
      std::optional<std::string> decoded = is_secret ? from_base64(text) : std::string(text);
      // What is no text has no place in a string of Terraform; `object` has it in base64.
      if (decoded && is_utf8(*decoded)) data.emplace(member.key, *std::move(decoded));
    }
    response.result = std::move(config);
    response.result.make("object") = Value::from_json(without_bookkeeping(std::move(read.object)));
    response.result.make("data") = Value::object(std::move(data));
    co_return response;
  }
};

}  // namespace

std::unique_ptr<DataSource> make_object_data_source() { return std::make_unique<ObjectDataSource>(); }
std::unique_ptr<EphemeralResource> make_ephemeral_object() { return std::make_unique<EphemeralObject>(); }

}  // namespace fairlead::terraform
