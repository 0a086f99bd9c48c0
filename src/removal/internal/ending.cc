#include "removal/internal/ending.h"

#include <algorithm>

#include "base/duration_text.h"

namespace fairlead::removal {

Ending failed_with(std::vector<Error> errors) {
  // Only the caller cancels a run.
  bool was_cancelled = !errors.empty() && std::ranges::all_of(errors, [](const Error& error) {
    return error.kind() == ErrorKind::cancelled;
  });
  if (was_cancelled) return Ending{.how = Ending::How::interrupted};
  Ending ending;
  ending.how = Ending::How::failed;
  for (Error& error : errors) ending.causes.push_back({.error = std::move(error), .blocks = {}});
  return ending;
}

Ending late(const Error& error, const Options& options) {
  Ending ending = failed_with(
      {Error(ErrorKind::timeout,
             fmt::format("the cluster could not be read within {}; nothing was deleted", short_text(options.timeout)))
           .because(kube::as_late(error))
           .next("kubectl get --raw /readyz?verbose shows the state of the API server; --timeout allows more time")});
  ending.how = Ending::How::timed_out;
  return ending;
}

}  // namespace fairlead::removal
