#include "gate/server/internal/catch_up.h"

#include <utility>

namespace fairlead::gate {
namespace {

// A list or a watch that takes longer is in trouble.
constexpr Duration kLongest = std::chrono::seconds(1);

}  // namespace

struct CatchUp::Round {
  explicit Round(Loop& loop) : changed(loop) {}
  bool has_ended = false;
  Signal changed;
};

Task<void> CatchUp::wait(Scope& scope, TimePoint deadline) {
  if (!next_) next_ = std::make_shared<Round>(client_.loop());
  if (!std::exchange(works_, true)) scope.spawn(work());
  auto ended = [](std::shared_ptr<Round> round) -> Task<Result<void>> {
    while (!round->has_ended) CO_TRY(co_await round->changed.wait());
    co_return Result<void>();
  };
  (void)co_await with_deadline(client_.loop(), deadline, "the view is late", ended(next_));
}

Task<void> CatchUp::work() {
  // It begins once the loop comes to it: after the requests that have arrived together.
  while (std::shared_ptr<Round> round = std::exchange(next_, nullptr)) {
    co_await look();
    round->has_ended = true;
    round->changed.notify_all();
  }
  works_ = false;
}

Task<void> CatchUp::look() {
  auto both = [this]() -> Task<Result<void>> {
    Scope lists(client_.loop(), co_await current_cancel());
    lists.spawn(look_at(false));
    lists.spawn(look_at(true));
    co_await lists.join();
    co_return Result<void>();
  };
  (void)co_await with_deadline(client_.loop(), client_.loop().now() + kLongest, "the view is late", both());
}

Task<void> CatchUp::look_at(bool mutates) {
  auto listed = co_await client_.list(webhook_configurations(mutates), {.metadata_only = true});
  if (!listed) co_return;
  for (const Json& item : listed->items)
    while (!view_.shows(item, mutates))
      if (!co_await view_changed_.wait()) co_return;
}

}  // namespace fairlead::gate
