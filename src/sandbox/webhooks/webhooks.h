// The webhook configurations and policies that one API server uses by now.
//
// A real API server learns of a change through a watch, and builds what it needs from it: that takes a moment, another
// one for each kind, and another one on each server. An updated configuration may even stay in its old form until its
// next change.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "admission/policy.h"
#include "admission/webhook.h"
#include "sandbox/core/core.h"

namespace fairlead::sandbox {

class Webhooks {
 public:
  enum class List { mutating, validating, policies, bindings, mutating_policies, mutating_bindings };

  Webhooks(Core& core, size_t server);

  // By name, as the server has them now.
  std::vector<ObjectPtr> in_effect(List list);

  // The same, read; in the order in which they are called. Shared, since they must outlast the calls.
  using Hooks = std::shared_ptr<const std::vector<admission::Webhook>>;
  Hooks hooks(List list);
  // Validating and mutating ones.
  struct Policies {
    std::vector<admission::Policy> policies;
    std::vector<admission::Binding> bindings;
  };
  std::shared_ptr<const Policies> policies();

 private:
  struct Form {
    TimePoint from;
    ObjectPtr object;  // null: gone
  };
  using Forms = std::map<std::string, std::vector<Form>>;

  void note(List list, const Event& event);
  Duration delay(List list) const;

  Core& core_;
  size_t server_;
  std::array<Forms, 6> forms_;
  // What was read last, and from what.
  std::array<std::vector<ObjectPtr>, 2> read_from_;
  std::array<Hooks, 2> read_;
  std::vector<ObjectPtr> policies_from_;
  std::shared_ptr<const Policies> policies_;
};

}  // namespace fairlead::sandbox
