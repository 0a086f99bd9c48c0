#include "sandbox/core/continue_token.h"

#include <fmt/format.h>

namespace fairlead::sandbox {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::string base64_url(std::string_view bytes) {
  std::string out;
  uint32_t bits = 0;
  int have = 0;
  for (char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (have += 8; have >= 6; have -= 6) out += kAlphabet[(bits >> (have - 6)) & 63];
  }
  if (have > 0) out += kAlphabet[(bits << (6 - have)) & 63];
  return out;
}

std::expected<std::string, size_t> base64_url_decode(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int have = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t value = kAlphabet.find(text[i]);
    if (value == std::string_view::npos) return std::unexpected(i);
    bits = (bits << 6) | uint32_t(value);
    if ((have += 6) >= 8) {
      have -= 8;
      out += static_cast<char>((bits >> have) & 255);
    }
  }
  // One character alone cannot be a byte.
  if (text.size() % 4 == 1) return std::unexpected(text.size() - 1);
  return out;
}

std::string ContinueToken::text(bool namespaced, bool one_namespace) const {
  std::string start = "/";
  if (namespaced && !one_namespace) start += after.ns + "/";
  start += after.name + std::string(1, '\0');
  return base64_url(
      Json(Json::Object{
               {"v", "meta.k8s.io/v1"}, {"rv", int64_t(version == 0 ? -1 : int64_t(version))}, {"start", start}})
          .dump());
}

Outcome<ContinueToken> ContinueToken::parse(std::string_view text, bool namespaced, std::string_view ns) {
  auto refused = [](std::string why) {
    return refuse(bad_request(fmt::format("invalid continue token: continue key is not valid: {}", why)));
  };
  std::expected<std::string, size_t> bytes = base64_url_decode(text);
  if (!bytes) return refused(fmt::format("illegal base64 data at input byte {}", bytes.error()));
  Result<Json> value = Json::parse(*bytes);
  if (!value || !value->is_object()) return refused("invalid character");
  if ((*value)["v"].string_or("") != "meta.k8s.io/v1")
    return refused(fmt::format("server does not recognize this encoded version {}", (*value)["v"].string_or("")));
  int64_t version = (*value)["rv"].int_or(0);
  if (version == 0) return refused("incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  std::string_view start = (*value)["start"].string_or("");
  if (start.empty()) return refused("encoded start key empty (version meta.k8s.io/v1)");
  if (start.front() == '/') start.remove_prefix(1);
  if (start.empty() || start.back() != '\0') return refused(fmt::format("\"{}\"", start));
  start.remove_suffix(1);
  ContinueToken token;
  token.version = version < 0 ? 0 : uint64_t(version);
  token.after.ns = ns;
  if (namespaced && ns.empty()) {
    size_t slash = start.find('/');
    if (slash == std::string_view::npos) return refused(fmt::format("\"{}\"", start));
    token.after.ns = start.substr(0, slash);
    start.remove_prefix(slash + 1);
  }
  token.after.name = start;
  return token;
}

}  // namespace fairlead::sandbox
