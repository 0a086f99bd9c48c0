#include <arpa/inet.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <optional>

#include "x509/internal/openssl.h"

namespace fairlead::x509 {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// An address in its canonical form, with or without brackets around it; nothing if it is none.
std::optional<std::string> address_of(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  std::string text(host);
  unsigned char bytes[16];
  char canonical[INET6_ADDRSTRLEN];
  for (int family : {AF_INET, AF_INET6})
    if (inet_pton(family, text.c_str(), bytes) == 1) return inet_ntop(family, bytes, canonical, sizeof canonical);
  return std::nullopt;
}

// A star stands for one whole label, the first.
bool matches(std::string_view pattern, std::string_view host) {
  if (!pattern.starts_with("*.")) return pattern == host;
  size_t dot = host.find('.');
  return dot != 0 && dot != host.npos && pattern.substr(1) == host.substr(dot);
}

std::string date_of(WallTime time) {
  auto day = std::chrono::floor<std::chrono::days>(time);
  std::chrono::year_month_day date(day);
  std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int(date.year()), unsigned(date.month()),
                     unsigned(date.day()), clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string words_for(const Name& name) {
  if (!name.common_name.empty()) return fmt::format("\"{}\"", name.common_name);
  if (!name.organizations.empty()) return fmt::format("\"{}\"", name.organizations.front());
  return "without a name";
}

Result<void> check_host(const Certificate& leaf, std::string_view host) {
  if (leaf.is_valid_for(host)) return {};
  std::vector<std::string> names = leaf.dns_names();
  for (std::string& address : leaf.ip_addresses()) names.push_back(std::move(address));
  if (names.empty()) {
    std::string common_name = leaf.subject().common_name;
    if (common_name.empty())
      return fail(ErrorKind::untrusted, "certificate has no names, so it is not valid for {}", host);
    return fail(
        ErrorKind::untrusted,
        "certificate has only the common name \"{}\" and no alternative names (SANs), so it is not valid for {}",
        common_name, host);
  }
  constexpr size_t kShown = 20;
  std::string more = names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "";
  names.resize(std::min(names.size(), kShown));
  return fail(ErrorKind::untrusted, "certificate is valid for {}{}, not {}", fmt::join(names, ", "), more, host);
}

Result<void> check_time(const Certificate& certificate, const std::string& what, WallTime at) {
  // To the second, as OpenSSL does it for the rest of the chain: the second of not_after itself counts as expired.
  WallTime second = std::chrono::floor<std::chrono::seconds>(at);
  if (second >= certificate.not_after())
    return fail(ErrorKind::untrusted, "{} has expired: it was valid until {}", what, date_of(certificate.not_after()));
  if (second < certificate.not_before())
    return fail(ErrorKind::untrusted, "{} is not yet valid: it will be from {}", what,
                date_of(certificate.not_before()));
  return {};
}

std::unexpected<Error> unknown_authority(const Certificate& last, std::span<const Certificate> roots) {
  auto same_name = [&](const Certificate& root) {
    return X509_NAME_cmp(X509_get_issuer_name(last.handle()), X509_get_subject_name(root.handle())) == 0;
  };
  Error error(ErrorKind::untrusted,
              fmt::format("certificate is signed by unknown authority {}", words_for(last.issuer())));
  if (roots.empty()) return fail(std::move(error).because("no authority is trusted at all"));
  if (std::ranges::any_of(roots, same_name))
    return fail(std::move(error).because("an authority of that name is trusted, but it has another key"));
  return fail(std::move(error));
}

std::unexpected<Error> explain(X509_STORE_CTX* context, std::span<const Certificate> roots, WallTime at, Usage usage) {
  int code = X509_STORE_CTX_get_error(context);
  int depth = X509_STORE_CTX_get_error_depth(context);
  X509* where = X509_STORE_CTX_get_current_cert(context);
  if (!where)
    return fail(ErrorKind::untrusted, "certificate cannot be verified: {}", X509_verify_cert_error_string(code));
  Certificate certificate = Certificate::share(where);
  std::string what =
      depth == 0 ? "certificate" : fmt::format("certificate of authority {}", words_for(certificate.subject()));
  switch (code) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_CERT_UNTRUSTED: return unknown_authority(certificate, roots);
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      if (Result<void> valid = check_time(certificate, what, at); !valid) return fail(std::move(valid).error());
      break;
    case X509_V_ERR_INVALID_PURPOSE:
      return fail(ErrorKind::untrusted, "{} is not for use by a {}", what,
                  usage == Usage::server ? "server" : "client");
    case X509_V_ERR_INVALID_CA:
      return fail(ErrorKind::untrusted, "{} may not sign certificates: it is not one of a certificate authority", what);
    default: break;
  }
  return fail(ErrorKind::untrusted, "{} cannot be verified: {}", what, X509_verify_cert_error_string(code));
}

}  // namespace

bool Certificate::is_valid_for(std::string_view host) const {
  if (std::optional<std::string> address = address_of(host)) {
    std::vector<std::string> addresses = ip_addresses();
    return std::ranges::find(addresses, *address) != addresses.end();
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.empty()) return false;
  std::string wanted = lower(host);
  return std::ranges::any_of(dns_names(), [&](const std::string& name) {
    // A name with a dot at its end is none to Go, although it is one to a resolver.
    return matches(lower(name), wanted);
  });
}

Result<void> verify(std::span<const Certificate> chain, std::span<const Certificate> roots, std::string_view host,
                    WallTime at, Usage usage) {
  if (chain.empty()) return fail(ErrorKind::untrusted, "no certificate was presented");
  // The leaf's own faults first, as in Go: they are what a person can do something about.
  TRY(check_time(chain.front(), "certificate", at));
  if (!host.empty()) TRY(check_host(chain.front(), host));

  Owned<X509_STORE, X509_STORE_free> store(X509_STORE_new());
  for (const Certificate& root : roots) X509_STORE_add_cert(store.get(), root.handle());
  // The stack, not what is in it: the chain owns that.
  auto free_stack = [](STACK_OF(X509) * stack) { sk_X509_free(stack); };
  std::unique_ptr<STACK_OF(X509), decltype(free_stack)> others(sk_X509_new_null());
  for (const Certificate& other : chain.subspan(1)) sk_X509_push(others.get(), other.handle());

  Owned<X509_STORE_CTX, X509_STORE_CTX_free> context(X509_STORE_CTX_new());
  if (X509_STORE_CTX_init(context.get(), store.get(), chain.front().handle(), others.get()) != 1)
    return fail(ErrorKind::internal, "cannot verify a certificate: {}", take_openssl_error());
  X509_VERIFY_PARAM* param = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(param, std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count());
  X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_depth(param, 10);
  // Level 1: no MD5, no SHA-1, no RSA below 1024 bits.
  X509_VERIFY_PARAM_set_auth_level(param, 1);
  X509_STORE_CTX_set_purpose(context.get(), usage == Usage::server ? X509_PURPOSE_SSL_SERVER : X509_PURPOSE_SSL_CLIENT);
  bool trusted = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  if (trusted) return {};
  return explain(context.get(), roots, at, usage);
}

}  // namespace fairlead::x509
