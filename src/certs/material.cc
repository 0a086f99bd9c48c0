#include "certs/material.h"

#include <algorithm>

#include "base/base64.h"

namespace fairlead::certs {
namespace {

constexpr std::string_view kCertManagerAnnotation = "cert-manager.io/certificate-name";

constexpr std::string_view kManagedByLabel = "app.kubernetes.io/managed-by";
constexpr std::string_view kManager = "fairlead";

std::string place_of(const Json& secret) {
  const Json& metadata = secret["metadata"];
  return fmt::format("Secret {}/{}", metadata["namespace"].string_or(""), metadata["name"].string_or(""));
}

class Reader {
 public:
  Reader(const Json& secret, std::vector<std::string>& problems) : secret_(secret), problems_(problems) {}

  std::vector<x509::Certificate> certificates(std::string_view key) {
    std::optional<std::string> pem = text(key);
    if (!pem) return {};
    auto read = x509::Certificate::parse_pem(*pem);
    if (read) return *std::move(read);
    add(key, read.error().message());
    return {};
  }

  std::optional<x509::Key> private_key(std::string_view key) {
    std::optional<std::string> pem = text(key);
    if (!pem) return std::nullopt;
    auto read = x509::Key::parse_pem(*pem);
    if (read) return *std::move(read);
    add(key, read.error().message());
    return std::nullopt;
  }

 private:
  std::optional<std::string> text(std::string_view key) {
    std::string_view encoded = secret_["data"][key].string_or("");
    if (encoded.empty()) return std::nullopt;
    std::optional<std::string> value = from_base64(encoded);
    if (!value) add(key, "it is not base64");
    return value && value->empty() ? std::nullopt : value;
  }

  void add(std::string_view key, std::string_view why) {
    problems_.push_back(fmt::format("{} in {} cannot be used: {}", key, place_of(secret_), why));
  }

  const Json& secret_;
  std::vector<std::string>& problems_;
};

std::optional<x509::KeyPair> read_authority(const Json& secret) {
  // A CA that cannot be used is as good as none: another one takes its place.
  std::vector<std::string> ignored;
  Reader reader(secret, ignored);
  std::vector<x509::Certificate> chain = reader.certificates(kCertificateFile);
  std::optional<x509::Key> key = reader.private_key(kKeyFile);
  if (chain.empty() || !key || !chain.front().is_ca() || !x509::key_matches(chain.front(), *key)) return std::nullopt;
  return x509::KeyPair{std::move(chain.front()), *std::move(key)};
}

Json new_secret(const std::string& ns, const std::string& name) {
  Json secret = Json::Object{{"apiVersion", "v1"}, {"kind", "Secret"}, {"type", "kubernetes.io/tls"}};
  secret.make("metadata").make("name") = name;
  secret.make("metadata").make("namespace") = ns;
  secret.make("metadata").make("labels").make(kManagedByLabel) = kManager;
  return secret;
}

Result<void> keeps_key(const Json& secret, std::string why) {
  const Json& metadata = secret["metadata"];
  return fail(Error(ErrorKind::invalid, fmt::format("{} is not changed", place_of(secret)))
                  .because(std::move(why))
                  .next(fmt::format("use another Secret; or, if nobody needs it: kubectl -n {} delete secret {}",
                                    metadata["namespace"].string_or(""), metadata["name"].string_or(""))));
}

void set_value(Json& secret, std::string_view key, std::string_view value) {
  secret.make("data").make(key) = to_base64(value);
}

}  // namespace

bool Material::trusts_ca() const { return ca && std::ranges::find(bundle, ca->certificate) != bundle.end(); }

std::optional<std::string> value_of(const Json& secret, std::string_view key) {
  std::optional<std::string> value = from_base64(secret["data"][key].string_or(""));
  return value && value->empty() ? std::nullopt : value;
}

Material read_material(const Json& serving, const Json& authority) {
  Material material;
  Reader reader(serving, material.problems);
  material.bundle = reader.certificates(kCaFile);
  material.chain = reader.certificates(kCertificateFile);
  material.key = reader.private_key(kKeyFile);
  material.ca = read_authority(authority);
  material.rotating = material.ca && authority["metadata"]["annotations"].contains(kRotatingAnnotation);
  return material;
}

Json serving_secret(const Json& before, const Material& material, const Spec& spec) {
  Json secret = before.is_null() ? new_secret(spec.ns, spec.secret) : before;
  set_value(secret, kCaFile, x509::to_pem(material.bundle));
  set_value(secret, kCertificateFile, x509::to_pem(material.chain));
  set_value(secret, kKeyFile, material.key ? material.key->to_pem() : "");
  return secret;
}

Json authority_secret(const Json& before, const Material& material, const Spec& spec) {
  Json secret = before.is_null() ? new_secret(spec.ns, spec.ca_secret()) : before;
  set_value(secret, kCertificateFile, material.ca->certificate.to_pem());
  set_value(secret, kKeyFile, material.ca->key.to_pem());
  Json& annotations = secret.make("metadata").make("annotations");
  if (material.rotating) annotations.make(kRotatingAnnotation) = "unfinished";
  else if (Json::Object* members = annotations.if_object()) members->erase(kRotatingAnnotation);
  if (annotations.members().empty()) secret.make("metadata").if_object()->erase("annotations");
  return secret;
}

Result<void> check_writable(const Json& secret) {
  if (secret.is_null()) return {};
  std::string name(secret["metadata"]["name"].string_or(""));
  std::string_view ns = secret["metadata"]["namespace"].string_or("");
  std::string_view certificate = secret["metadata"]["annotations"][kCertManagerAnnotation].string_or("");
  if (!certificate.empty())
    return fail(Error(ErrorKind::invalid, fmt::format("{} is not changed", place_of(secret)))
                    .because(fmt::format("cert-manager keeps it, for Certificate {}", certificate))
                    .next("use another Secret, or leave certificates to cert-manager"));
  if (secret["immutable"].bool_or(false))
    return fail(Error(ErrorKind::invalid, fmt::format("{} cannot be changed: it is immutable", place_of(secret)))
                    .next(fmt::format("kubectl -n {} delete secret {}", ns, name)));
  return {};
}

Result<void> check_replaceable(const Json& serving, const Material& material, const Spec& spec) {
  if (!material.key) return {};
  if (!material.chain.empty() && material.chain.front().is_ca() &&
      material.chain.front().subject().common_name == spec.ca_name())
    return fail(Error(ErrorKind::invalid, fmt::format("{} is not changed", place_of(serving)))
                    .because(fmt::format("it has the key of the CA of Service {}/{}", spec.ns, spec.service))
                    .next("use another Secret for the certificate"));
  bool is_ours = material.chain.empty() ? serving["metadata"]["labels"][kManagedByLabel].string_or("") == kManager
                                        : material.chain.front().issuer().common_name == spec.ca_name();
  if (is_ours) return {};
  return keeps_key(serving,
                   fmt::format("it has a private key that was not made for Service {}/{}", spec.ns, spec.service));
}

Result<void> check_takes_ca(const Json& authority, const Spec& spec) {
  std::vector<std::string> ignored;
  Reader reader(authority, ignored);
  std::vector<x509::Certificate> chain = reader.certificates(kCertificateFile);
  if (chain.empty() || chain.front().is_ca() || !reader.private_key(kKeyFile)) return {};
  return keeps_key(authority, fmt::format("it has a private key that is not a CA's, and the CA of Secret {}/{} belongs "
                                          "there",
                                          spec.ns, spec.secret));
}

}  // namespace fairlead::certs
