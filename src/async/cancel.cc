#include "async/cancel.h"

namespace fairlead {

CancelSource::CancelSource(CancelSource* parent) : parent_(parent) {
  if (!parent_) return;
  if (parent_->cancelled_) {
    cancelled_ = true;
    parent_ = nullptr;
    return;
  }
  parent_hook_ = parent_->add([this] { cancel(); });
}

CancelSource::~CancelSource() {
  if (parent_) parent_->remove(parent_hook_);
}

void CancelSource::cancel() {
  if (std::exchange(cancelled_, true)) return;
  for (next_ = hooks_.begin(); next_ != hooks_.end();) {
    auto callback = std::exchange(*next_++, nullptr);
    if (callback) callback();
  }
}

void CancelSource::remove(Hooks::iterator hook) {
  if (hook == next_) ++next_;
  hooks_.erase(hook);
}

void CancelHook::set(CancelSource* source, std::function<void()> callback) {
  clear();
  if (!source) return;
  source_ = source;
  hook_ = source->add(std::move(callback));
}

void CancelHook::clear() {
  if (source_) source_->remove(hook_);
  source_ = nullptr;
}

}  // namespace fairlead
