// Reads and writes the two Secrets. A write happens only if nobody else has written since they were read; so several
// replicas that begin at once agree on what the first of them stored.
#pragma once

#include "certs/judge.h"
#include "kube/client.h"

namespace fairlead::certs {

object::Resource secrets();

struct Stored {
  // Null where there is none.
  Json serving;
  Json authority;
  Material material;
};

class Store {
 public:
  // The client must outlive it.
  Store(kube::Client& client, Spec spec) : client_(client), spec_(std::move(spec)) {}

  Task<Result<Stored>> read();
  // Writes what the change says. Returns false if somebody else wrote first: then everything has to be read again, and
  // a part may have been written. Fails if a Secret is not ours to write.
  Task<Result<bool>> write(const Stored& before, const Change& change, bool dry_run = false);

 private:
  Task<Result<Json>> get(std::string name);
  Task<Result<bool>> put(const Json& before, Json secret, bool dry_run);

  kube::Client& client_;
  Spec spec_;
};

}  // namespace fairlead::certs
