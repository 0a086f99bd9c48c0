#include "cli/input/selection.h"

#include <fnmatch.h>
#include <strings.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "object/selector.h"

namespace fairlead::cli {
namespace {

using Matches = std::function<bool(const object::Object& object)>;

Result<Matches> read(const std::string& text) {
  bool is_kind = !text.empty() && std::isupper(static_cast<unsigned char>(text.front()));
  if (is_kind || text.find('/') < text.find('=')) {
    std::string kind = text.substr(0, text.find('/'));
    std::string name = text.find('/') == std::string::npos ? "*" : text.substr(text.find('/') + 1);
    return Matches([kind, name](const object::Object& object) {
      return ::strcasecmp(object.kind().c_str(), kind.c_str()) == 0 &&
             ::fnmatch(name.c_str(), object.name().c_str(), 0) == 0;
    });
  }
  TRY_ASSIGN(object::Selector selector, object::Selector::parse(text));
  return Matches([selector](const object::Object& object) { return selector.matches(object.labels()); });
}

Result<std::vector<Matches>> read_all(const std::vector<std::string>& texts) {
  std::vector<Matches> all;
  for (const std::string& text : texts) {
    TRY_ASSIGN(Matches one, read(text));
    all.push_back(std::move(one));
  }
  return all;
}

bool any(const std::vector<Matches>& all, const object::Object& object) {
  return std::ranges::any_of(all, [&](const Matches& matches) { return matches(object); });
}

}  // namespace

Result<void> select(manifest::Bundle& bundle, const std::vector<std::string>& only,
                    const std::vector<std::string>& skip) {
  TRY_ASSIGN(std::vector<Matches> wanted, read_all(only));
  TRY_ASSIGN(std::vector<Matches> unwanted, read_all(skip));
  std::erase_if(bundle.objects, [&](const object::Object& object) {
    return (!wanted.empty() && !any(wanted, object)) || any(unwanted, object);
  });
  if (bundle.objects.empty())
    return fail(Error(ErrorKind::invalid, "no object is left after --only and --skip").next("fairlead apply --help"));
  return {};
}

}  // namespace fairlead::cli
