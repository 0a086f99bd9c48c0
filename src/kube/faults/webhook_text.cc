#include "kube/faults/webhook_text.h"

#include <charconv>
#include <initializer_list>

namespace fairlead::kube {
namespace {

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts)
    if (text.contains(part)) return true;
  return false;
}

// Up to the next quote, which goes too.
std::optional<std::string_view> take_quoted(std::string_view& text) {
  size_t end = text.find('"');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view quoted = text.substr(0, end);
  text.remove_prefix(end + 1);
  return quoted;
}

void read_url(std::string_view url, FaultWebhook& webhook) {
  url = url.substr(0, url.find('?'));
  webhook.url = url;
  if (!take_prefix(url, "https://")) return;
  size_t slash = url.find('/');
  std::string_view host = url.substr(0, slash);
  webhook.path = slash == std::string_view::npos ? "" : url.substr(slash);
  webhook.port = 443;
  size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && !host.ends_with(']')) {
    std::string_view digits = host.substr(colon + 1);
    int port = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error == std::errc() && end == digits.data() + digits.size() && port > 0 && port < 65536) webhook.port = port;
    host = host.substr(0, colon);
  }
  if (!host.ends_with(".svc")) return;
  host.remove_suffix(4);
  size_t dot = host.find('.');
  if (dot == std::string_view::npos || host.find('.', dot + 1) != std::string_view::npos) return;
  webhook.service = host.substr(0, dot);
  webhook.ns = host.substr(dot + 1);
}

// `Post "https://svc.ns.svc:443/path?timeout=5s": ` or, from old servers, the same without quotes.
bool take_post(std::string_view& tail, FaultWebhook& webhook) {
  std::string_view rest = tail;
  if (!take_prefix(rest, "Post ")) return false;
  if (take_prefix(rest, "\"")) {
    std::optional<std::string_view> url = take_quoted(rest);
    if (!url || !take_prefix(rest, ": ")) return false;
    read_url(*url, webhook);
  } else {
    size_t end = rest.find(": ");
    if (end == std::string_view::npos) return false;
    read_url(rest.substr(0, end), webhook);
    rest.remove_prefix(end + 2);
  }
  tail = rest;
  return true;
}

// The call broke: what Go's HTTP client, and the server's own look-up of Services, say.
FaultKind kind_of_broken_call(std::string_view tail) {
  if (tail.starts_with("service \"") && tail.ends_with("\" not found")) return FaultKind::webhook_service_missing;
  if (tail.starts_with("no service port ")) return FaultKind::webhook_port_missing;
  if (tail.starts_with("no endpoints available for service ")) return FaultKind::webhook_no_endpoints;
  if (tail.contains("x509: certificate signed by unknown authority")) return FaultKind::webhook_untrusted;
  if (has_any(tail, {"x509: ", "remote error: tls: "})) return FaultKind::webhook_wrong_certificate;
  if (has_any(tail, {"http: server gave HTTP response to HTTPS client", "tls: first record does not look like a TLS",
                     "malformed HTTP response"}))
    return FaultKind::webhook_not_https;
  if (has_any(tail, {"connection refused", "operation not permitted"})) return FaultKind::webhook_refused;
  if (has_any(tail, {"i/o timeout", "no route to host", "context deadline exceeded", "Client.Timeout exceeded",
                     "TLS handshake timeout", "connection timed out", "network is unreachable", "no such host",
                     "proxy error from "}))
    return FaultKind::webhook_timeout;
  if (tail.ends_with("EOF") ||
      has_any(tail, {"connection reset by peer", "broken pipe", "server closed idle connection",
                     "transport connection broken", "client connection lost"}))
    return FaultKind::webhook_hung_up;
  return FaultKind::webhook_unreachable;
}

// Something answered. The text can be whatever the webhook wrote, so only whole sentences of the server's own count.
std::optional<FaultKind> kind_of_answer(std::string_view tail) {
  if (tail == "the server could not find the requested resource") return FaultKind::webhook_path_missing;
  if (tail == "the server is currently unable to handle the request" ||
      tail == "the server has received too many requests and has asked us to try again later")
    return FaultKind::webhook_busy;
  if (tail.starts_with("an error on the server (") || tail.starts_with("the server responded with the status code "))
    return FaultKind::webhook_answered_error;
  if (tail.starts_with("received invalid webhook response") || tail.starts_with("received undecodable patch") ||
      tail.starts_with("couldn't get version/kind; ") || tail.starts_with("0-length response with status code: 200 ") ||
      tail.starts_with("no kind \""))
    return FaultKind::webhook_bad_response;
  if (tail.starts_with("0-length response with status code: ")) return FaultKind::webhook_answered_error;
  return std::nullopt;
}

std::optional<WebhookText> read_admission(std::string_view text) {
  if (!take_prefix(text, "failed calling webhook \"") && !take_prefix(text, "failed calling admission webhook \""))
    return std::nullopt;
  std::optional<std::string_view> name = take_quoted(text);
  if (!name || !take_prefix(text, ": ")) return std::nullopt;
  take_prefix(text, "failed to call webhook: ");

  WebhookText result{.kind = {}, .webhook = {.name = std::string(*name)}, .tail = {}};
  if (take_post(text, result.webhook)) {
    result.kind = kind_of_broken_call(text);
  } else if (text.starts_with("could not get REST client: ")) {
    // The caBundle itself cannot be read.
    result.kind = text.contains("root certificates") ? FaultKind::webhook_untrusted : FaultKind::webhook_unreachable;
  } else {
    result.kind = kind_of_answer(text).value_or(FaultKind::webhook_answered_error);
  }
  result.tail = text;
  return result;
}

std::optional<WebhookText> read_verdict(std::string_view text) {
  if (!take_prefix(text, "admission webhook \"")) return std::nullopt;
  std::optional<std::string_view> name = take_quoted(text);
  if (!name) return std::nullopt;
  WebhookText result{.kind = FaultKind::webhook_denied, .webhook = {.name = std::string(*name)}, .tail = {}};
  if (text == " does not support dry run") {
    result.kind = FaultKind::webhook_no_dry_run;
  } else if (take_prefix(text, " denied the request: ")) {
    result.tail = text;
  } else if (!text.starts_with(" denied the request")) {
    return std::nullopt;
  }
  return result;
}

// What 1.37 puts before the words of a failed conversion, since it takes the object for corrupt: `storage is
// (re)initializing: failed to list <unspecified>: failed to read one or more convs.example.com from the storage:
// StorageError: corrupt object, Code: 7, Key: …, ResourceVersion: 0, AdditionalErrorMsg: object not decodable
// revision=12: `, or the end of that.
void take_storage_words(std::string_view& text) {
  auto take_until = [&text](std::string_view begin, std::string_view end) {
    size_t at = text.starts_with(begin) ? text.find(end) : std::string_view::npos;
    if (at != std::string_view::npos) text.remove_prefix(at + end.size());
  };
  take_until("storage is (re)initializing: ", ": ");
  take_until("failed to list ", ": ");
  take_until("failed to read one or more ", " from the storage: ");
  take_until("StorageError: corrupt object, ", ", AdditionalErrorMsg: ");
  take_until("object not decodable revision=", ": ");
}

// `conversion webhook for example.com/v1, Kind=Conv failed: …` or `… returned invalid …`
std::optional<WebhookText> read_conversion(std::string_view text) {
  take_storage_words(text);
  if (!take_prefix(text, "conversion webhook for ")) return std::nullopt;
  size_t kind = text.find(", Kind=");
  if (kind == std::string_view::npos) return std::nullopt;
  size_t end = text.find(' ', kind + 2);
  if (end == std::string_view::npos) return std::nullopt;
  WebhookText result{.kind = FaultKind::conversion_failed,
                     .webhook = {.role = FaultWebhook::Role::conversion, .name = std::string(text.substr(0, end))},
                     .tail = {}};
  text.remove_prefix(end + 1);
  if (text.starts_with("returned ")) {
    result.kind = FaultKind::conversion_bad_result;
  } else if (!take_prefix(text, "failed: ")) {
    return std::nullopt;
  } else if (take_post(text, result.webhook)) {
    result.kind = kind_of_broken_call(text);
  } else {
    result.kind = kind_of_answer(text).value_or(FaultKind::conversion_failed);
  }
  result.tail = text;
  return result;
}

}  // namespace

std::optional<WebhookText> read_webhook_text(std::string_view message) {
  take_prefix(message, "Internal error occurred: ");
  if (auto text = read_admission(message)) return text;
  if (auto text = read_verdict(message)) return text;
  return read_conversion(message);
}

}  // namespace fairlead::kube
