#include "terraform/bundle/internal/settings.h"

#include <fmt/format.h>

#include "inventory/holder.h"
#include "terraform/bundle/source.h"
#include "terraform/cluster/clusters.h"
#include "terraform/objects/attributes.h"
#include "terraform/objects/words.h"

namespace fairlead::terraform {
namespace {

constexpr size_t kMostCauses = 10;
constexpr std::string_view kFirstHome = "default";

// The advice of the engines names flags of the command line where attributes do the same.
std::string bundle_advice(std::string_view advice) {
  if (advice.contains("--force-conflicts"))
    return "set on_conflict = \"force\", or leave the fields out of the manifests";
  if (advice.contains("--force-finalizers")) return "set force_destroy = true, apply, and destroy again";
  if (advice.contains("kubectl create namespace")) return "add it to the manifests, or set create_namespace = true";
  if (advice.contains("--with-contents")) return "set with_contents = true, apply, and destroy again";
  if (advice.contains("--cluster-gone"))
    return "run it again when the cluster answers; if the cluster no longer exists, set cluster_gone = true and apply";
  return std::string(advice);
}

// No server has answered, and the error is about no object.
bool is_unreachable(const Error& error) {
  return error.kind() == ErrorKind::unavailable && error.next().empty() && error.where().empty();
}

}  // namespace

const Schema& bundle_schema() {
  static const Schema kSchema = [] {
    Schema schema{
        .version = 0,
        .description = "Many objects, rolled out in the order that the cluster needs.",
        .attributes =
            {{.name = "name",
              .required = true,
              .description = "The name of the bundle, as of `fairlead apply --name`."},
             optional_attribute("namespace", Type::string(),
                                "The namespace of the bundle's inventory, and of objects that name none; `default` "
                                "by default."),
             cluster_attribute(),
             cluster_gone_attribute(),
             optional_attribute("create_namespace", Type::boolean(), "Create `namespace` if it does not exist."),
             optional_attribute("wait", Type::boolean(),
                                "Wait until everything is ready (default), or only until it is stored."),
             optional_attribute("prune", Type::boolean(),
                                "Delete objects that are no longer in the manifests (default)."),
             optional_attribute("timeout", Type::string(), "The time limit of a rollout, `15m` by default."),
             optional_attribute("delete_timeout", Type::string(),
                                "The time limit of the deletion; by default each object has its own."),
             optional_attribute("on_conflict", Type::string(),
                                "Fields that others have changed: `force` (default) takes them back, `fail` "
                                "reports them."),
             optional_attribute("adopt", Type::boolean(), "Go on with a bundle of this name that exists already."),
             optional_attribute("delete_protection", Type::boolean(),
                                "Plans that would delete or replace the bundle fail."),
             optional_attribute("force_destroy", Type::boolean(),
                                "Remove the finalizers of objects whose deletion makes no progress."),
             optional_attribute("with_contents", Type::boolean(),
                                "Delete Namespaces and CRDs even if others have objects in them."),
             computed_attribute("id", Type::string(), "`NAMESPACE/NAME`."),
             computed_attribute("complete", Type::boolean(),
                                "Whether the last rollout came to its end. If not, the next apply goes on."),
             computed_attribute("objects", Type::map(Type::string()), "A digest of each object."),
             computed_attribute("revision", Type::string(),
                                "Changes with each rollout that changes something; see `fairlead history`.")},
        .blocks = {}};
    for (Attribute& attribute : source_attributes()) schema.attributes.push_back(std::move(attribute));
    return schema;
  }();
  return kSchema;
}

BundleSettings BundleSettings::read(const Value& value) {
  return {.name = std::string(value["name"].string_or("")),
          .home = std::string(value["namespace"].string_or(kFirstHome))};
}

Path source_path(const Value& config) {
  for (const char* name : {"yaml", "path", "kustomize", "chart"})
    if (!config[name].is_null()) return Path(name);
  return Path("name");
}

rollout::Options rollout_options(const Value& value, const BundleSettings& settings) {
  rollout::Options options;
  options.name = settings.name;
  options.default_namespace = settings.home;
  options.create_namespace = value["create_namespace"].bool_or(false);
  options.force_conflicts = value["on_conflict"].string_or("force") == "force";
  options.prune = value["prune"].bool_or(true);
  options.with_contents = value["with_contents"].bool_or(false);
  options.wait = value["wait"].bool_or(true);
  options.timeout = duration_in(value["timeout"]).value_or(options.timeout);
  inventory::sign(options);
  return options;
}

Error as_protected(std::string_view what, std::string_view bundle, std::string_view again) {
  return Error(ErrorKind::denied, fmt::format("The bundle is protected and cannot be {} ({})", what, bundle))
      .because("delete_protection = true")
      .next(fmt::format("set delete_protection = false and apply; then {} again", again));
}

Error bundle_error(const Error& error, const BundleSettings& settings, std::string_view otherwise) {
  if (is_unreachable(error))
    return Error(error.kind(), fmt::format("The cluster cannot be reached ({})", settings.text()))
        .because(error)
        .next(bundle_advice("--cluster-gone"));
  Error out(error.kind(), fmt::format("{} ({})", error.what(), settings.text()));
  if (error.cause()) out = std::move(out).because(*error.cause());
  if (!error.where().empty()) out = std::move(out).at(error.where());
  bool has_no_answer = error.kind() == ErrorKind::unavailable && error.next().empty();
  std::string advice = bundle_advice(has_no_answer ? "--cluster-gone" : error.next());
  if (advice.empty()) advice = otherwise;
  if (advice.empty())
    advice =
        fmt::format("fairlead status {}{}", settings.name, settings.home == kFirstHome ? "" : " -n " + settings.home);
  return std::move(out).next(advice);
}

void add_causes(Diagnostics& diagnostics, const std::vector<journal::Cause>& causes, const BundleSettings& settings,
                Diagnostic::Severity severity, const Path& source, std::string_view otherwise) {
  for (size_t i = 0; i < causes.size() && i < kMostCauses; ++i) {
    const journal::Cause& cause = causes[i];
    Path path = is_unreachable(cause.error) ? Path("cluster") : source;
    Diagnostics one;
    one.error(bundle_error(cause.error, settings, otherwise), path);
    std::string detail = one.all().front().detail;
    for (const journal::Finding& finding : cause.findings) {
      detail += fmt::format("  {:<9} {}\n", finding.kind, finding.about);
      for (const std::string& line : finding.lines) detail += fmt::format("            | {}\n", line);
    }
    if (!cause.blocks.empty()) {
      std::vector<std::string> blocked;
      for (const object::Key& key : cause.blocks) blocked.push_back(key.text());
      detail += fmt::format("  blocks    {}\n", some_of(blocked, 3));
    }
    if (severity == Diagnostic::Severity::error) diagnostics.error(one.all().front().summary, detail, path);
    else diagnostics.warning(one.all().front().summary, detail, path);
  }
}

}  // namespace fairlead::terraform
