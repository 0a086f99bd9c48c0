#include "webhook/server/internal/workers.h"

#include "async/background_loop.h"

namespace fairlead::webhook {

Workers::~Workers() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
    entries_.clear();
  }
  added_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(Job job, Job done) {
  if (threads_.empty()) {
    // Where there can be no more threads, those that are there do the work.
    for (size_t i = 0; i < threads_wanted_; ++i)
      if (std::optional<std::thread> thread = start_thread([this] { work(); })) threads_.push_back(*std::move(thread));
  }
  if (threads_.empty()) {
    job();
    loop_.post([done = std::move(done)]() mutable { done(); });
    return;
  }
  {
    std::lock_guard lock(mutex_);
    entries_.push_back({std::move(job), std::move(done)});
  }
  added_.notify_one();
}

void Workers::work() {
  while (true) {
    std::unique_lock lock(mutex_);
    added_.wait(lock, [this] { return ending_ || !entries_.empty(); });
    if (ending_) return;
    Entry entry = std::move(entries_.front());
    entries_.pop_front();
    lock.unlock();
    entry.job();
    loop_.post([entry = std::move(entry)]() mutable { entry.done(); });
  }
}

}  // namespace fairlead::webhook
