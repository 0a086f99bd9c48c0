#include "sandbox/verbs/internal/table.h"

#include <fmt/format.h>

#include <optional>

#include "fields/managed_fields.h"
#include "sandbox/core/custom_kind.h"
#include "sandbox/verbs/internal/read.h"

namespace fairlead::sandbox {
namespace {

Json column(const schema::Column& column) {
  return Json::Object{{"name", column.name},
                      {"type", column.type},
                      {"format", column.format},
                      {"description", column.description},
                      {"priority", column.priority}};
}

// What the columns of a CRD point to; its ages are shown as ages, everything else as it is.
Json::Array custom_cells(const Core& core, const Kind& kind, const Json& object) {
  Json::Array cells{object["metadata"]["name"]};
  for (const PrinterColumn& printer : kind.custom->printer_columns) {
    Json value = value_at(object, printer.path);
    bool fits = printer.type == "integer" || printer.type == "number" ? value.is_number()
                : printer.type == "boolean"                           ? value.is_bool()
                                                                      : !value.is_null();
    if (!fits) cells.emplace_back(nullptr);
    else if (printer.type == "date") cells.emplace_back(age_of(core, value.string_or("")));
    else if (printer.type == "string" && !value.is_string()) cells.emplace_back(value.dump());
    else cells.push_back(std::move(value));
  }
  return cells;
}

}  // namespace

std::string human_duration(Duration duration) {
  int64_t seconds = std::chrono::floor<std::chrono::seconds>(duration).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format("{}s", seconds);
  int64_t minutes = seconds / 60;
  if (minutes < 10)
    return seconds % 60 == 0 ? fmt::format("{}m", minutes) : fmt::format("{}m{}s", minutes, seconds % 60);
  if (minutes < 180) return fmt::format("{}m", minutes);
  int64_t hours = minutes / 60;
  if (hours < 8) return minutes % 60 == 0 ? fmt::format("{}h", hours) : fmt::format("{}h{}m", hours, minutes % 60);
  if (hours < 48) return fmt::format("{}h", hours);
  if (hours < 192)
    return hours % 24 == 0 ? fmt::format("{}d", hours / 24) : fmt::format("{}d{}h", hours / 24, hours % 24);
  if (hours < 24 * 365 * 2) return fmt::format("{}d", hours / 24);
  int64_t years = hours / 24 / 365, days = (hours / 24) % 365;
  if (hours < 24 * 365 * 8) return days == 0 ? fmt::format("{}y", years) : fmt::format("{}y{}d", years, days);
  return fmt::format("{}y", years);
}

std::string age_of(const Core& core, std::string_view time) {
  std::optional<std::chrono::sys_seconds> then = fields::parse_time(time);
  if (!then) return "<unknown>";
  return human_duration(core.loop.clock().wall_now() - WallTime(*then));
}

Json table_of(const Core& core, const Kind& kind, const Json::Array& objects, Json metadata, std::string_view include,
              bool with_columns) {
  Json::Array columns;
  if (with_columns)
    for (const schema::Column& one : kind.columns) columns.push_back(column(one));
  Json::Array rows;
  for (const Json& object : objects) {
    Json::Object row{{"cells", kind.custom ? custom_cells(core, kind, object) : cells_of(core, kind, object)}};
    if (include == "Object") row.append("object", object);
    else row.append("object", include == "None" ? Json() : partial_metadata(object));
    rows.push_back(std::move(row));
  }
  return Json::Object{{"kind", "Table"},
                      {"apiVersion", "meta.k8s.io/v1"},
                      {"metadata", std::move(metadata)},
                      {"columnDefinitions", with_columns ? Json(std::move(columns)) : Json()},
                      {"rows", std::move(rows)}};
}

Json table_of_list(const Core& core, const Kind& kind, const Json::Array& objects, Json metadata,
                   std::string_view include) {
  Json table = table_of(core, kind, objects, std::move(metadata), include, true);
  if (kind.id() != ResourceId{"storage.k8s.io", "storageclasses"}) return table;
  // Of several that are marked as the default, it is the newest; of several of one time, the first by name.
  std::optional<size_t> newest;
  auto created = [&](size_t i) { return objects[i]["metadata"]["creationTimestamp"].string_or(""); };
  for (size_t i = 0; i < objects.size(); ++i) {
    const Json& metadata_of = objects[i]["metadata"];
    if (metadata_of["annotations"]["storageclass.kubernetes.io/is-default-class"].string_or("") != "true") continue;
    if (!newest || created(i) > created(*newest)) newest = i;
  }
  if (!newest) return table;
  Json& cell = (*(*table.make("rows").if_array())[*newest].make("cells").if_array())[0];
  cell = fmt::format("{} (default)", cell.string_or(""));
  return table;
}

}  // namespace fairlead::sandbox
