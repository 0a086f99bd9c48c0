#include "kube/watch_stream.h"

namespace fairlead::kube {
namespace {

std::optional<WatchStream::Event::Type> type_of(std::string_view name) {
  using Type = WatchStream::Event::Type;
  if (name == "ADDED") return Type::added;
  if (name == "MODIFIED") return Type::modified;
  if (name == "DELETED") return Type::deleted;
  if (name == "BOOKMARK") return Type::bookmark;
  if (name == "ERROR") return Type::error;
  return std::nullopt;
}

}  // namespace

void WatchStream::feed(std::string_view piece) {
  if (broken_) return;
  // Moves what is left only when as much has been read: in sum, no byte moves more than a few times.
  if (start_ > 0 && start_ >= buffer_.size() / 2) {
    buffer_.erase(0, start_);
    scanned_ -= start_;
    start_ = 0;
  }
  buffer_ += piece;
}

Result<std::optional<WatchStream::Event>> WatchStream::next() {
  auto broken = [&](Error error) {
    broken_ = true;
    buffer_.clear();
    start_ = scanned_ = 0;
    return fail(std::move(error));
  };
  while (!broken_) {
    size_t end = buffer_.find('\n', scanned_);
    if ((end == std::string::npos ? buffer_.size() : end) - start_ > max_line_)
      return broken(Error(ErrorKind::limit, fmt::format("an event of the watch has more than {} bytes", max_line_)));
    if (end == std::string::npos) {
      scanned_ = buffer_.size();
      return std::nullopt;
    }
    std::string_view line = std::string_view(buffer_).substr(start_, end - start_);
    start_ = scanned_ = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Result<Json> json = Json::parse(line, {.bytes = max_line_, .depth = 200});
    if (!json) return broken(Error(ErrorKind::protocol, "the watch sent a line that is not JSON"));
    std::optional<Event::Type> type = type_of((*json)["type"].string_or(""));
    if (!type || !(*json)["object"].is_object())
      return broken(Error(ErrorKind::protocol, "the watch sent a line that is no event"));
    return Event{.type = *type, .object = std::move(json->make("object"))};
  }
  return std::nullopt;
}

}  // namespace fairlead::kube
