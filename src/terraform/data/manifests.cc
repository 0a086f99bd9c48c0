#include "terraform/data/manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "async/real_loop.h"
#include "diff/yaml_text.h"
#include "manifest/rendered.h"
#include "object/containers.h"
#include "object/definition.h"
#include "render/render.h"
#include "schema/types/builtin.h"
#include "terraform/data/glob.h"
#include "terraform/objects/attributes.h"

namespace fairlead::terraform {
namespace {

using GroupAndKind = std::pair<std::string, std::string>;

// The built-in kinds without namespaces.
const std::set<GroupAndKind>& built_in_cluster_kinds() {
  static const std::set<GroupAndKind> kKinds = [] {
    std::set<GroupAndKind> kinds;
    for (const schema::Resource& resource : schema::builtin_resources())
      if (!resource.namespaced && !resource.name.contains('/')) kinds.emplace(resource.group, resource.kind);
    return kinds;
  }();
  return kKinds;
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return text;
}

std::string key_of(const object::Key& key) {
  std::string group = key.group.empty() ? "" : key.group + ".", ns = key.ns.empty() ? "" : key.ns + ".";
  return fmt::format("{}{}.{}{}", group, lower_case(key.kind), ns, key.name);
}

Value map_of(const std::map<std::string, std::string>& texts) {
  Value::Members members;
  for (const auto& [key, text] : texts) members.emplace(key, text);
  return Value::object(std::move(members));
}

Value value_of_sorted(const SortedManifests& sorted) {
  std::map<std::string, std::string> all = sorted.crds;
  all.insert(sorted.cluster_scoped.begin(), sorted.cluster_scoped.end());
  all.insert(sorted.namespaced.begin(), sorted.namespaced.end());
  return Value::object({{"manifests", map_of(all)},
                        {"crds", map_of(sorted.crds)},
                        {"cluster_scoped", map_of(sorted.cluster_scoped)},
                        {"namespaced", map_of(sorted.namespaced)}});
}

const Schema& manifests_schema() {
  Type texts = Type::map(Type::string());
  static const Schema kSchema{
      .version = 0,
      .description = "Manifests, one by one, for `for_each`.",
      .attributes = {optional_attribute("content", Type::string(), "Manifests, as YAML or JSON documents."),
                     optional_attribute("pattern", Type::string(),
                                        "Files: `${path.module}/k8s/**/*.yaml`. `**` matches any number of folders."),
                     optional_attribute("kustomize_path", Type::string(),
                                        "A folder with a kustomization; needs kubectl or kustomize."),
                     computed_attribute("id", Type::string(), "A digest of the manifests."),
                     computed_attribute("manifests", texts, "All of them, by `[group.]kind[.namespace].name`."),
                     computed_attribute("crds", texts, "The CustomResourceDefinitions."),
                     computed_attribute("cluster_scoped", texts, "The other objects without a namespace."),
                     computed_attribute("namespaced", texts, "The objects in namespaces.")},
      .blocks = {}};
  return kSchema;
}

constexpr std::string_view kManifestSources[] = {"content", "pattern", "kustomize_path"};

class ManifestsDataSource final : public DataSource {
 public:
  std::string_view name() const override { return "fairlead_manifests"; }
  const Schema& schema() const override { return manifests_schema(); }

  Task<Diagnostics> validate(Context&, Value config) override {
    Diagnostics found;
    auto set = std::ranges::count_if(kManifestSources, [&](std::string_view name) { return !config[name].is_null(); });
    if (set != 1)
      found.error(set == 0 ? "There are no manifests" : "There are several sources of manifests",
                  "Set exactly one of content, pattern and kustomize_path.", "content");
    co_return found;
  }

  Task<DataResponse> read(Context& context, Value config) override {
    DataResponse response;
    Path path("content");
    std::vector<std::string> files;
    std::vector<manifest::Text> texts;
    if (const std::string* content = config["content"].if_string())
      texts.push_back({.origin = "content", .content = *content, .has_lines = true});
    if (const std::string* pattern = config["pattern"].if_string()) {
      path = Path("pattern");
      Result<std::vector<std::string>> found = files_matching(*pattern);
      if (!found) {
        response.diagnostics.error(found.error(), path);
        co_return response;
      }
      files = *std::move(found);
    }
    if (const std::string* folder = config["kustomize_path"].if_string()) {
      path = Path("kustomize_path");
      auto* loop = dynamic_cast<RealLoop*>(&context.loop());
      Result<render::Rendered> rendered = fail(ErrorKind::internal, "a kustomization needs a real loop");
      if (loop) rendered = co_await render::render_kustomization(*loop, *folder);
      if (!rendered) {
        response.diagnostics.error(Error(rendered.error()).in("The kustomization could not be built"), path);
        co_return response;
      }
      texts = std::move(rendered->texts);
    }
    auto bundle = co_await manifest::read_with(std::move(files), {}, std::move(texts));
    if (!bundle) {
      for (const Error& error : bundle.error())
        response.diagnostics.error(Error(error).in("The manifests cannot be used"), path);
      co_return response;
    }
    Result<SortedManifests> sorted = sorted_manifests(*bundle);
    if (!sorted) {
      response.diagnostics.error(sorted.error(), path);
      co_return response;
    }
    response.state = value_of_sorted(*sorted);
    for (std::string_view name : kManifestSources) response.state.make(name) = config[name];
    response.state.make("id") = short_digest(value_of_sorted(*sorted).to_json()->dump());
    co_return response;
  }
};

class ManifestsFunction final : public Function {
 public:
  std::string_view name() const override { return "manifests"; }
  const Signature& signature() const override {
    static const Signature kSignature = [] {
      Type texts = Type::map(Type::string());
      return Signature{
          .parameters = {{.name = "content",
                          .type = Type::string(),
                          .description = "Manifests, as YAML or JSON documents."}},
          .variadic = {},
          .result =
              Type::object({{"manifests", texts}, {"crds", texts}, {"cluster_scoped", texts}, {"namespaced", texts}}),
          .summary = "Takes manifests apart.",
          .description =
              "Returns the objects of a text, by `[group.]kind[.namespace].name`: all of them, and those that "
              "are CustomResourceDefinitions, cluster-scoped, and namespaced."};
    }();
    return kSignature;
  }

  Task<std::expected<Value, FunctionError>> call(Context&, std::vector<Value> arguments) override {
    std::string content(arguments.empty() ? "" : arguments[0].string_or(""));
    auto bundle =
        co_await manifest::read_with({}, {}, {{.origin = "content", .content = std::move(content), .has_lines = true}});
    if (!bundle) co_return std::unexpected(FunctionError{.text = bundle.error().front().message(), .argument = 0});
    Result<SortedManifests> sorted = sorted_manifests(*bundle);
    if (!sorted) co_return std::unexpected(FunctionError{.text = sorted.error().message(), .argument = 0});
    co_return value_of_sorted(*sorted);
  }
};

}  // namespace

Result<SortedManifests> sorted_manifests(const manifest::Bundle& bundle) {
  std::set<GroupAndKind> cluster_kinds = built_in_cluster_kinds();
  for (const object::Object& object : bundle.objects) {
    if (!object::is_crd(object.key())) continue;
    object::Definition definition(object.value());
    if (!definition.namespaced()) cluster_kinds.emplace(definition.group(), definition.kind());
  }
  SortedManifests sorted;
  std::map<std::string, const object::Object*> seen;
  for (const object::Object& object : bundle.objects) {
    std::string key = key_of(object.key());
    auto [before, is_new] = seen.emplace(key, &object);
    if (!is_new)
      return fail(Error(ErrorKind::invalid, fmt::format("{} comes twice", object.key().text()))
                      .because(fmt::format("{} and {}", before->second->source().text(), object.source().text()))
                      .next("remove one of them"));
    auto& place = object::is_crd(object.key())                              ? sorted.crds
                  : cluster_kinds.contains({object.group(), object.kind()}) ? sorted.cluster_scoped
                                                                            : sorted.namespaced;
    place.emplace(std::move(key), diff::yaml_text(object.value()));
  }
  return sorted;
}

std::unique_ptr<DataSource> make_manifests_data_source() { return std::make_unique<ManifestsDataSource>(); }
std::unique_ptr<Function> make_manifests_function() { return std::make_unique<ManifestsFunction>(); }

}  // namespace fairlead::terraform
