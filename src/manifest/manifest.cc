#include "manifest/manifest.h"

#include "manifest/collector.h"
#include "manifest/files.h"
#include "manifest/rendered.h"

namespace fairlead::manifest {
namespace {

bool is_address(std::string_view source) {
  std::string scheme(source.substr(0, std::min(source.find("://"), source.size())));
  for (char& c : scheme) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return scheme.size() < source.size() && (scheme == "http" || scheme == "https");
}

// Without user, password and query, which may be secrets and must not show up anywhere.
std::string display_name(std::string_view address) {
  address = address.substr(0, address.find_first_of("?#"));
  size_t host = address.find("://") + 3;
  size_t host_end = std::min(address.find('/', host), address.size());
  size_t at = address.substr(0, host_end).rfind('@');
  std::string name(address.substr(0, host));
  return name.append(address.substr(at == std::string_view::npos || at < host ? host : at + 1));
}

std::string join(const std::vector<std::string>& sources) {
  std::string out;
  for (const std::string& source : sources) {
    if (!out.empty()) out += ", ";
    out += source == "-" ? "stdin" : is_address(source) ? display_name(source) : source;
  }
  return out;
}

Error no_objects(const std::vector<std::string>& sources, const std::vector<Text>& rendered) {
  std::vector<std::string> names = sources;
  for (const Text& text : rendered)
    if (names.empty() || names.back() != text.origin) names.push_back(text.origin);
  if (names.empty()) return Error(ErrorKind::invalid, "there is nothing to read: no files were given");
  return Error(ErrorKind::invalid, fmt::format("there are no objects in {}", join(names)));
}

}  // namespace

Task<std::expected<Bundle, Errors>> read(std::vector<std::string> sources, Options options) {
  return read_with(std::move(sources), std::move(options), {});
}

Task<std::expected<Bundle, Errors>> read_with(std::vector<std::string> sources, Options options,
                                              std::vector<Text> rendered) {
  Collector collector(options.limits);
  size_t left = options.limits.total_bytes;
  bool stdin_is_read = false;
  auto take = [&](Result<std::string> text, const std::string& name) {
    if (!text) {
      collector.add_error(std::move(text).error());
    } else if (text->size() > left) {
      collector.add_error(
          Error(ErrorKind::limit, fmt::format("{} is larger than the {} bytes that are left", name, left)));
    } else {
      left -= text->size();
      collector.add(*text, name);
    }
  };

  for (const std::string& source : sources) {
    if (collector.is_full()) break;
    if (source == "-") {
      if (stdin_is_read) collector.add_error(Error(ErrorKind::invalid, "stdin can be read only once"));
      else take(co_await read_descriptor(options.standard_input, "stdin", left, options.await_input), "stdin");
      stdin_is_read = true;
    } else if (is_address(source)) {
      std::string name = display_name(source);
      if (!options.fetch) {
        collector.add_error(Error(ErrorKind::invalid, fmt::format("{} cannot be fetched here", name)));
      } else {
        Result<std::string> text = co_await options.fetch(source, left);
        if (!text) text = fail(std::move(text).error().in(fmt::format("cannot fetch {}", name)));
        take(std::move(text), name);
      }
    } else {
      Result<std::vector<std::string>> files = expand(source, options.recursive, options.limits.files);
      if (!files) {
        collector.add_error(std::move(files).error());
        continue;
      }
      for (const std::string& file : *files) {
        if (collector.is_full()) break;
        bool is_named = files->size() == 1 && file == source;
        Result<std::string> text = read_file(file, left);
        if (!is_named && text && describes_bundle(file, *text)) continue;
        take(std::move(text), file);
      }
    }
  }
  for (const Text& text : rendered) collector.add_rendered(text);
  if (collector.is_empty()) collector.add_error(no_objects(sources, rendered));
  co_return std::move(collector).finish();
}

object::Source locate(const object::Source& source, const object::FieldPath& path) {
  Result<std::string> text = source.file.empty() || is_address(source.file) || source.file == "stdin"
                                 ? Result<std::string>(std::string())
                                 : read_file(source.file, Limits().total_bytes);
  if (!text) return source;
  object::Source found = source;
  found.line = yaml::locate(*text, source.line, path.steps()).value_or(source.line);
  return found;
}

}  // namespace fairlead::manifest
