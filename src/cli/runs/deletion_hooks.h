// The Helm hooks around the deletion of a bundle: pre-delete and post-delete.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kube/client.h"
#include "kube/discovery.h"
#include "manifest/manifest.h"
#include "removal/removal.h"
#include "rollout/rollout.h"

namespace fairlead::cli {

// Runs the hooks of one bundle, each set at most once. What the references point to must outlive it.
class DeletionHooks {
 public:
  DeletionHooks(kube::Client& client, kube::Discovery& discovery, const manifest::Bundle& bundle,
                const removal::Options& options, journal::Journal& journal, CancelSource* stop);

  // A function for removal::Options::ask, which a removal calls after it knows what there is to delete and before it
  // deletes anything. Asks `ask` (yes if empty), and runs the hooks for `pre-delete` if the answer is yes. Returns
  // false if one of them fails.
  std::function<Task<bool>(std::string text)> asking(std::function<Task<bool>(std::string text)> ask);
  // Call it with the ending of the removal. If a hook before it failed, the ending becomes that failure. Otherwise, if
  // everything was deleted, runs the hooks for `post-delete`, and a hook that fails makes the ending a failure.
  Task<void> finish(removal::Ending& ending);

 private:
  enum class When { before, after };

  Task<bool> ask_and_run(std::function<Task<bool>(std::string text)> ask, std::string text);
  // Returns why a hook failed; nothing if all of them are done.
  Task<std::optional<journal::Cause>> run(When when);
  void fail(removal::Ending& ending, journal::Cause cause) const;

  kube::Client& client_;
  kube::Discovery& discovery_;
  const manifest::Bundle& bundle_;
  rollout::Options options_;
  journal::Journal& journal_;
  CancelSource* stop_;
  bool begun_ = false;
  std::optional<journal::Cause> failure_;
};

// Returns the hooks for deletion of the bundle of that name, whose home is `ns`, from its newest revision in the
// cluster. None if the bundle has none, or does not exist. Fails if it has hooks and they cannot be read.
Task<Result<manifest::Bundle>> read_kept_hooks(kube::Client& client, kube::Discovery& discovery, std::string name,
                                               std::string ns);

// Returns the hooks of the bundle for that event ("pre-delete") as objects that a rollout without a name runs.
manifest::Bundle hooks_for(const manifest::Bundle& bundle, std::string_view event);

}  // namespace fairlead::cli
