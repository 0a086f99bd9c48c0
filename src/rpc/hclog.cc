#include "rpc/hclog.h"

#include "base/printable.h"
#include "base/timestamp.h"

namespace fairlead::rpc {
namespace {

constexpr size_t kMaxMessage = 8'000;
constexpr size_t kMaxLine = 60'000;

constexpr std::string_view kLevels[] = {"trace", "debug", "info", "warn", "error"};

}  // namespace

std::string hclog_line(LogLevel level, std::string_view message, const Json& fields, WallTime now) {
  Json::Object entry;
  entry.append("@level", kLevels[size_t(level)]);
  entry.append("@message", printable(message.substr(0, kMaxMessage)));
  entry.append("@timestamp", dump_micro_time(now));
  std::string bare = Json(entry).dump() + "\n";
  for (const Json::Member& field : fields.members()) entry[field.key] = field.value;
  std::string line = Json(std::move(entry)).dump() + "\n";
  return line.size() <= kMaxLine ? line : bare;
}

}  // namespace fairlead::rpc
