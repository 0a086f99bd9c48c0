// Threads for policies that take their time, so that the loop goes on meanwhile.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "async/real_loop.h"

namespace fairlead::webhook {

class Workers {
 public:
  using Job = std::move_only_function<void()>;

  // The loop must outlive it. Threads are started with the first job.
  Workers(RealLoop& loop, size_t threads) : loop_(loop), threads_wanted_(threads) {}
  // Waits for the jobs that run; those that wait are dropped.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Runs `job` on a thread and then `done` on the loop; jobs start in the order in which they were given. Where no
  // thread can be started, `job` runs at once. Neither may throw. Both are destroyed on the loop's thread, unless they
  // are dropped.
  void run(Job job, Job done);

 private:
  struct Entry {
    Job job;
    Job done;
  };
  void work();

  RealLoop& loop_;
  size_t threads_wanted_;
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<Entry> entries_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fairlead::webhook
