#include "terraform/objects/attributes.h"

#include <fmt/format.h>

#include <random>

#include "inventory/digest.h"
#include "kube/config/timeout_text.h"
#include "terraform/objects/words.h"

namespace fairlead::terraform {

Attribute optional_attribute(std::string name, Type type, std::string description) {
  return {.name = std::move(name), .type = std::move(type), .optional = true, .description = std::move(description)};
}

Attribute computed_attribute(std::string name, Type type, std::string description) {
  return {.name = std::move(name), .type = std::move(type), .computed = true, .description = std::move(description)};
}

Attribute cluster_gone_attribute() {
  return optional_attribute("cluster_gone", Type::boolean(),
                            "The cluster no longer exists: destroy forgets the resource without asking the cluster.");
}

void check_choice(const Value& config, const char* name, std::initializer_list<std::string_view> choices,
                  Diagnostics& found) {
  const std::string* text = config[name].if_string();
  if (!text) return;
  std::string all;
  for (std::string_view choice : choices) {
    if (*text == choice) return;
    all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", choice);
  }
  found.error(
      fmt::format("{} is none of the choices", name),
      fmt::format("\"{}\" is not one of {}.\n  next      {} = {}", *text, all, name, all.substr(0, all.find(','))),
      Path(name));
}

void check_duration(const Value& value, const Path& path, Diagnostics& found) {
  const std::string* text = value.if_string();
  if (!text) return;
  if (Result<Duration> parsed = kube::parse_timeout(*text); !parsed)
    found.error(Error(ErrorKind::invalid, fmt::format("{} is no duration", path.text()))
                    .because(parsed.error())
                    .next(fmt::format("{} = \"5m\"", path.text())),
                path);
}

std::optional<Duration> duration_in(const Value& value) {
  const std::string* text = value.if_string();
  Result<Duration> parsed = text ? kube::parse_timeout(*text) : fail(ErrorKind::invalid, "not set");
  return parsed ? std::optional(*parsed) : std::nullopt;
}

std::vector<std::string> texts_in(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& item : list.items())
    if (const std::string* text = item.if_string()) texts.push_back(*text);
  return texts;
}

Value value_of(const Flat& flat) {
  Value::Members members;
  for (const auto& [path, text] : flat) members.emplace(path, text);
  return Value::object(std::move(members));
}

Flat flat_of(const Value& value) {
  Flat flat;
  for (const auto& [path, text] : value.members()) flat.emplace(path, text.string_or(""));
  return flat;
}

std::string new_id() {
  std::random_device device;
  return fmt::format("{:08x}{:04x}", device(), device() & 0xffff);
}

std::string short_digest(std::string_view text) {
  std::string digest = inventory::sha256(text);
  std::string out;
  for (size_t i = 0; i < 6; ++i) out += fmt::format("{:02x}", static_cast<unsigned char>(digest[i]));
  return out;
}

Task<Connection*> connected(Context& context, Value cluster, object::Key key, Diagnostics& diagnostics) {
  Result<Connection*> found = co_await context.clusters().connect(std::move(cluster));
  if (found && *found) co_return *found;
  Error why = found ? Error(ErrorKind::invalid, "`cluster` is still not known") : found.error();
  diagnostics.error(std::move(why).in(headline("The cluster cannot be used", key)), "cluster");
  co_return nullptr;
}

}  // namespace fairlead::terraform
