#include "webhook/install/internal/objects.h"

#include "webhook/install/internal/chart_texts.h"
#include "yaml/yaml.h"

namespace fairlead::webhook::install {

Objects definitions() {
  Objects objects;
  for (std::string_view text : {kDynamocomponentdeployments, kDynamographdeployments, kDynamomodels})
    objects.push_back(yaml::parse_one(text, "definition").value());
  return objects;
}

Json::Object selector_labels(const Settings& settings) {
  return {{"app.kubernetes.io/name", "fairlead-webhook"}, {"app.kubernetes.io/instance", settings.release.name}};
}

Json object(const Settings& settings, std::string_view api_version, std::string_view kind, const std::string& name,
            const std::string& ns) {
  Json::Object labels = selector_labels(settings);
  labels.append("app.kubernetes.io/version", settings.release.version);
  Json::Object metadata{{"name", name}};
  if (!ns.empty()) metadata.append("namespace", ns);
  metadata.append("labels", std::move(labels));
  return Json::Object{{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

Json strings(std::initializer_list<std::string_view> texts) {
  Json::Array array;
  for (std::string_view text : texts) array.emplace_back(text);
  return array;
}

}  // namespace fairlead::webhook::install
