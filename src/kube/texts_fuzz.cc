// Any bytes as the small texts of an API server, a kubeconfig and the command line: no crash, and errors that say
// something.
#include <cstdint>
#include <cstdlib>

#include "base/plain_text.h"
#include "base/timestamp.h"
#include "kube/config/exec_credential.h"
#include "kube/config/timeout_text.h"
#include "kube/faults/fault.h"
#include "kube/faults/field_error.h"
#include "kube/faults/webhook_text.h"
#include "kube/internal/warning_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (Result<Duration> timeout = kube::parse_timeout(text); !timeout && timeout.error().what().empty()) std::abort();
  (void)parse_timestamp(text);
  (void)parse_http_date(text);
  (void)kube::read_field_error(text);
  (void)kube::is_about_immutability("Invalid", text);
  (void)kube::shorten_field_error(text);
  (void)kube::read_webhook_text(text);
  if (plain_text(text, 100).find('\n') != std::string::npos) std::abort();
  (void)kube::read_warnings({{"Warning", std::string(text)}});
  auto credential = kube::read_exec_credential({.api_version = "client.authentication.k8s.io/v1"}, text);
  if (!credential && credential.error().what().empty()) std::abort();
  for (int status : {400, 403, 409, 422, 429, 500, 503}) {
    std::optional<kube::Fault> fault =
        kube::classify("PATCH", "/api/v1/namespaces/a/pods/p", status, {{"Retry-After", std::string(text)}}, text);
    if (!fault || kube::as_error(*fault).what().empty()) std::abort();
  }
  return 0;
}
