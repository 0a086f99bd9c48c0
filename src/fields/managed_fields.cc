#include "fields/managed_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/go_quoted.h"

namespace fairlead::fields {
namespace {

constexpr std::string_view kApply = "Apply";
constexpr std::string_view kUpdate = "Update";
// The API server limits updaters to ten entries and does not limit appliers. More entries than this are an attack.
constexpr size_t kMaxEntries = 10'000;

std::string_view name_of(Operation operation) { return operation == Operation::apply ? kApply : kUpdate; }

Result<ManagedEntry> parse_entry(const Json& json, size_t position) {
  ManagedEntry entry;
  std::string_view operation = json["operation"].string_or("");
  if (operation == kApply) entry.operation = Operation::apply;
  else if (operation != kUpdate) return fail(ErrorKind::invalid, "operation must be `Apply` or `Update`");
  entry.manager = json["manager"].string_or("");
  entry.api_version = json["apiVersion"].string_or("");
  entry.subresource = json["subresource"].string_or("");
  if (entry.api_version.empty()) return fail(ErrorKind::invalid, "apiVersion must not be empty");
  std::string_view fields_type = json["fieldsType"].string_or("");
  if (fields_type.empty()) return fail(ErrorKind::invalid, "missing fieldsType in managed fields entry {}", position);
  if (fields_type != "FieldsV1")
    return fail(ErrorKind::invalid, "invalid fieldsType {} in managed fields entry {}", go_quoted(fields_type),
                position);
  if (const Json& time = json["time"]; !time.is_null()) {
    entry.time = parse_time(time.string_or(""));
    if (!entry.time) return fail(ErrorKind::invalid, "the time of managed fields entry {} is no time", position);
  }
  if (const Json& fields = json["fieldsV1"]; !fields.is_null()) {
    TRY_ASSIGN(entry.fields, FieldSet::parse(fields));
  }
  return entry;
}

// Accepts digits only.
std::optional<int> number(std::string_view text) {
  int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.starts_with('-')) return std::nullopt;
  return value;
}

// `Z`, `+02:00` or `-02:00`.
std::optional<std::chrono::minutes> offset(std::string_view text) {
  if (text == "Z" || text == "z") return std::chrono::minutes(0);
  if (text.size() != 6 || text[3] != ':' || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  auto hours = number(text.substr(1, 2)), minutes = number(text.substr(4, 2));
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  int total = *hours * 60 + *minutes;
  return std::chrono::minutes(text[0] == '-' ? -total : total);
}

}  // namespace

std::optional<std::chrono::sys_seconds> parse_time(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' ||
      text[16] != ':')
    return std::nullopt;
  auto year = number(text.substr(0, 4)), month = number(text.substr(5, 2)), day = number(text.substr(8, 2));
  auto hour = number(text.substr(11, 2)), minute = number(text.substr(14, 2)), second = number(text.substr(17, 2));
  if (!year || !month || !day || !hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59)
    return std::nullopt;
  std::string_view rest = text.substr(19);
  if (rest.starts_with('.')) {
    size_t digits = rest.find_first_not_of("0123456789", 1);
    if (digits == 1 || digits == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(digits);
  }
  auto shift = offset(rest);
  std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(unsigned(*month)),
                                   std::chrono::day(unsigned(*day))};
  if (!shift || !date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second) - *shift;
}

std::string dump_time(std::chrono::sys_seconds time) {
  auto days = std::chrono::floor<std::chrono::days>(time);
  std::chrono::year_month_day date(days);
  std::chrono::hh_mm_ss clock(time - days);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int(date.year()), unsigned(date.month()),
                     unsigned(date.day()), clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string ManagedEntry::identity() const {
  Json::Object out;
  out.append("manager", manager);
  out.append("operation", name_of(operation));
  if (operation == Operation::update) out.append("apiVersion", api_version);
  if (!subresource.empty()) out.append("subresource", subresource);
  return Json(std::move(out)).dump();
}

Result<std::vector<ManagedEntry>> parse_managed_fields(const Json& list) {
  std::vector<ManagedEntry> entries;
  if (list.is_null()) return entries;
  if (!list.is_array()) return fail(ErrorKind::invalid, "managedFields is {}, not array", list.type_name());
  if (list.items().size() > kMaxEntries)
    return fail(ErrorKind::limit, "managedFields has {} entries, more than {}", list.items().size(), kMaxEntries);
  for (size_t i = 0; i < list.items().size(); ++i) {
    TRY_ASSIGN(ManagedEntry entry, parse_entry(list.items()[i], i));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Json dump_managed_fields(std::vector<ManagedEntry> entries) {
  std::sort(entries.begin(), entries.end(), [](const ManagedEntry& a, const ManagedEntry& b) {
    auto rank = [](const ManagedEntry& entry) {
      return std::tuple<Operation, std::chrono::sys_seconds, std::string_view, std::string_view, std::string_view>(
          entry.operation, entry.time.value_or(std::chrono::sys_seconds()), entry.manager, entry.api_version,
          entry.subresource);
    };
    return rank(a) < rank(b);
  });
  Json::Array out;
  for (const ManagedEntry& entry : entries) {
    Json::Object json;
    if (!entry.manager.empty()) json.append("manager", entry.manager);
    json.append("operation", name_of(entry.operation));
    json.append("apiVersion", entry.api_version);
    if (entry.time) json.append("time", dump_time(*entry.time));
    json.append("fieldsType", "FieldsV1");
    json.append("fieldsV1", entry.fields.dump());
    if (!entry.subresource.empty()) json.append("subresource", entry.subresource);
    out.push_back(std::move(json));
  }
  return out;
}

std::optional<ManagedEntry> applied_by(const Json& object, std::string_view manager) {
  const Json::Array& list = object["metadata"]["managedFields"].items();
  for (size_t i = 0; i < list.size(); ++i) {
    const Json& json = list[i];
    if (json["manager"].string_or("") != manager || json["operation"].string_or("") != kApply) continue;
    if (!json["subresource"].string_or("").empty()) continue;
    Result<ManagedEntry> entry = parse_entry(json, i);
    if (entry) return *std::move(entry);
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace fairlead::fields
