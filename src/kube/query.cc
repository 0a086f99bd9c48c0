#include "kube/query.h"

#include <fmt/format.h>

namespace fairlead::kube {

Query& Query::add(std::string_view name, std::string_view value) {
  if (value.empty()) return *this;
  text_ += text_.empty() ? '?' : '&';
  text_ += name;
  text_ += '=';
  for (char c : value) {
    bool unreserved = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                      c == '.' || c == '_' || c == '~';
    text_ += unreserved ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return *this;
}

std::string Query::behind(std::string path) const { return std::move(path) + text_; }

}  // namespace fairlead::kube
