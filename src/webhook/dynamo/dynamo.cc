#include "webhook/dynamo/dynamo.h"

#include "webhook/dynamo/internal/component.h"
#include "webhook/dynamo/internal/graph.h"
#include "webhook/dynamo/internal/model.h"

namespace fairlead::webhook {

PolicySet dynamo_policies(const DynamoOptions& options) {
  auto registration = [](std::string kind, std::string resource, std::shared_ptr<const Policy> policy) {
    return Registration{.kind = {.group = "nvidia.com", .version = "v1alpha1", .kind = std::move(kind)},
                        .resource = std::move(resource),
                        .policy = std::move(policy)};
  };
  return {.name = "dynamo",
          .registrations = {registration("DynamoComponentDeployment", "dynamocomponentdeployments",
                                         std::make_shared<dynamo::ComponentPolicy>()),
                            registration("DynamoGraphDeployment", "dynamographdeployments",
                                         std::make_shared<dynamo::GraphPolicy>(options)),
                            registration("DynamoModel", "dynamomodels", std::make_shared<dynamo::ModelPolicy>())}};
}

}  // namespace fairlead::webhook
