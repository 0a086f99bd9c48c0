#include "kube/config/internal/kubeconfig_section.h"

#include <fmt/format.h>

#include "base/base64.h"

namespace fairlead::kube {

Error Section::error(std::string what) const {
  Error error(ErrorKind::invalid, fmt::format("{}: {}", who_, what));
  return file_.empty() ? error : std::move(error).at(file_);
}

Result<std::string> Section::text(std::string_view key) const {
  const Json& value = value_[key];
  if (!value.is_string() && !value.is_null())
    return fail(error(fmt::format("\"{}\" must be a string, not {}", key, value.type_name())));
  return std::string(value.string_or(""));
}

Result<bool> Section::flag(std::string_view key) const {
  const Json& value = value_[key];
  if (!value.is_bool() && !value.is_null())
    return fail(error(fmt::format("\"{}\" must be true or false, not {}", key, value.type_name())));
  return value.bool_or(false);
}

Result<std::vector<std::string>> Section::texts(std::string_view key) const {
  const Json& value = value_[key];
  std::vector<std::string> result;
  if (value.is_null()) return result;
  if (!value.is_array()) return fail(error(fmt::format("\"{}\" must be a list, not {}", key, value.type_name())));
  for (const Json& item : value.items()) {
    if (!item.is_string())
      return fail(error(fmt::format("\"{}\" must be a list of strings, and has {} in it", key, item.type_name())));
    result.emplace_back(item.string_or(""));
  }
  return result;
}

std::string Section::resolved(const std::string& path) const {
  size_t slash = file_.rfind('/');
  if (path.empty() || path.front() == '/' || slash == std::string::npos) return path;
  return file_.substr(0, slash + 1) + path;
}

Result<std::string> Section::path(std::string_view key) const {
  TRY_ASSIGN(std::string path, text(key));
  return resolved(path);
}

Result<std::optional<std::string>> Section::data_or_file(std::string_view key, const Surroundings& surroundings) const {
  TRY_ASSIGN(std::string file, path(key));
  TRY_ASSIGN(std::string data, text(fmt::format("{}-data", key)));
  if (!file.empty() && !data.empty()) return fail(error(fmt::format("has both \"{}\" and \"{}-data\"", key, key)));
  if (!data.empty()) {
    std::optional<std::string> bytes = from_base64(data);
    if (!bytes) return fail(error(fmt::format("\"{}-data\" is not base64", key)));
    return bytes;
  }
  if (file.empty()) return std::nullopt;
  Result<std::string> bytes = surroundings.read_file(file);
  if (!bytes) return fail(error(fmt::format("\"{}\" cannot be read: {}", key, file)).because(std::move(bytes).error()));
  return *std::move(bytes);
}

}  // namespace fairlead::kube
