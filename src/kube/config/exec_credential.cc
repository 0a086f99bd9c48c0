#include "kube/config/exec_credential.h"

#include "base/json.h"
#include "base/timestamp.h"
#include "yaml/yaml.h"

namespace fairlead::kube {

std::string exec_info(const ExecPlugin& plugin, bool interactive) {
  Json::Object spec;
  if (!plugin.cluster.is_null()) spec.append("cluster", plugin.cluster);
  spec.append("interactive", interactive);
  return Json(Json::Object{{"kind", "ExecCredential"}, {"apiVersion", plugin.api_version}, {"spec", std::move(spec)}})
      .dump();
}

Result<ExecCredential> read_exec_credential(const ExecPlugin& plugin, std::string_view output) {
  Result<Json> parsed = yaml::parse_one(output, "its output");
  if (!parsed || !parsed->is_object()) return fail(ErrorKind::protocol, "its output is no ExecCredential");
  const Json& credential = *parsed;
  if (credential["kind"].string_or("") != "ExecCredential")
    return fail(ErrorKind::protocol, "its output is no ExecCredential");
  if (credential["apiVersion"].string_or("") != plugin.api_version)
    return fail(ErrorKind::protocol, "its output is not of the version that the kubeconfig asks for, {}",
                plugin.api_version);
  const Json& status = credential["status"];
  if (!status.is_object()) return fail(ErrorKind::protocol, "its output has no status");

  ExecCredential result{.token = std::string(status["token"].string_or("")),
                        .certificate_pem = std::string(status["clientCertificateData"].string_or("")),
                        .key_pem = std::string(status["clientKeyData"].string_or("")),
                        .expires = {}};
  if (result.token.empty() && result.certificate_pem.empty() && result.key_pem.empty())
    return fail(ErrorKind::protocol, "its output has neither a token nor a certificate");
  if (result.certificate_pem.empty() != result.key_pem.empty())
    return fail(ErrorKind::protocol, "its output has only one of certificate and key");
  const Json& expires = status["expirationTimestamp"];
  if (!expires.is_null()) {
    result.expires = parse_timestamp(expires.string_or(""));
    if (!result.expires) return fail(ErrorKind::protocol, "its output has an expirationTimestamp that is none");
  }
  return result;
}

}  // namespace fairlead::kube
