// Asking work to stop.
//
// A CancelSource belongs to whoever may want to stop the work (a Scope, a deadline). Every task carries a pointer to
// the source that governs it and hands it down to the tasks that it awaits (task.h), so nobody passes it by hand. What
// really waits (a timer, a socket, a signal) registers a CancelHook, and ends its wait with ErrorKind::cancelled. One
// thread only, like everything that runs on a Loop.
#pragma once

#include <functional>
#include <list>
#include <utility>

namespace fairlead {

class CancelSource {
 public:
  // Is cancelled as well when `parent` is. The parent must outlive it.
  explicit CancelSource(CancelSource* parent = nullptr);
  ~CancelSource();
  CancelSource(const CancelSource&) = delete;
  CancelSource& operator=(const CancelSource&) = delete;

  void cancel();
  bool cancelled() const { return cancelled_; }

 private:
  friend class CancelHook;
  using Hooks = std::list<std::function<void()>>;

  Hooks::iterator add(std::function<void()> callback) { return hooks_.insert(hooks_.end(), std::move(callback)); }
  void remove(Hooks::iterator hook);

  bool cancelled_ = false;
  Hooks hooks_;
  // The hook that cancel() looks at next: a callback may remove any hook.
  Hooks::iterator next_ = hooks_.end();
  CancelSource* parent_;
  Hooks::iterator parent_hook_;
};

// Calls back once when the source is cancelled, for as long as the hook is set. The callback must not destroy the hook,
// and may come from within cancel(): it should post to the loop rather than resume anything itself.
class CancelHook {
 public:
  CancelHook() = default;
  ~CancelHook() { clear(); }
  CancelHook(const CancelHook&) = delete;
  CancelHook& operator=(const CancelHook&) = delete;

  // The source may be null (nothing ever cancels); it must not be cancelled yet.
  void set(CancelSource* source, std::function<void()> callback);
  void clear();

 private:
  CancelSource* source_ = nullptr;
  CancelSource::Hooks::iterator hook_;
};

}  // namespace fairlead
