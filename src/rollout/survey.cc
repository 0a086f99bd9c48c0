#include "rollout/survey.h"

#include "rollout/internal/prepare.h"

namespace fairlead::rollout {

Task<Survey> survey(kube::Client& client, kube::Discovery& discovery, manifest::Bundle bundle, const Options& options,
                    journal::Journal& journal) {
  Prepared prepared{.bundle = std::move(bundle)};
  Survey survey;
  survey.errors = co_await prepare(client, discovery, options, journal, prepared);
  survey.bundle = std::move(prepared.bundle);
  survey.graph = std::move(prepared.graph);
  co_return survey;
}

}  // namespace fairlead::rollout
