#include "webhook/install/internal/objects.h"

namespace fairlead::webhook::install {
namespace {

constexpr std::string_view kCertManager = "cert-manager.io/v1";

Json issuer(const Settings& settings, const std::string& name, Json spec) {
  Json issuer = object(settings, kCertManager, "Issuer", name, settings.release.ns);
  issuer.make("spec") = std::move(spec);
  return issuer;
}

// The key is kept when a certificate is renewed, so that old and new ones verify each other.
Json certificate(const Settings& settings, const std::string& name, Json::Object spec) {
  Json certificate = object(settings, kCertManager, "Certificate", name, settings.release.ns);
  spec.append("privateKey", Json::Object{{"algorithm", "ECDSA"}, {"size", 256}, {"rotationPolicy", "Never"}});
  certificate.make("spec") = std::move(spec);
  return certificate;
}

Json reference(std::string_view group, std::string_view kind, const std::string& name) {
  return Json::Object{{"group", group}, {"kind", kind}, {"name", name}};
}

void add_own_issuer(Objects& objects, const Settings& settings) {
  std::string bootstrap = settings.name() + "-selfsigned";
  std::string ca = settings.name() + "-ca";
  objects.push_back(issuer(settings, bootstrap, Json::Object{{"selfSigned", Json::Object()}}));
  objects.push_back(certificate(settings, ca,
                                {{"isCA", true},
                                 {"commonName", ca},
                                 {"secretName", ca},
                                 {"duration", settings.root_duration},
                                 {"renewBefore", settings.root_renew_before},
                                 {"issuerRef", reference("cert-manager.io", "Issuer", bootstrap)}}));
  objects.push_back(issuer(settings, ca, Json::Object{{"ca", Json::Object{{"secretName", ca}}}}));
}

}  // namespace

Objects certificates(const Settings& settings) {
  Objects objects;
  if (!settings.has_webhook || settings.certificates != Certificates::cert_manager) return objects;
  if (settings.issuer.empty()) add_own_issuer(objects, settings);
  std::string service = settings.name();
  std::string host = service + "." + settings.release.ns;
  objects.push_back(
      certificate(settings, settings.name() + "-serving",
                  {{"secretName", settings.secret},
                   {"duration", settings.duration},
                   {"renewBefore", settings.renew_before},
                   {"dnsNames", strings({service, host, host + ".svc", host + ".svc." + settings.cluster_domain})},
                   {"usages", strings({"digital signature", "key encipherment", "server auth"})},
                   {"issuerRef", settings.issuer.empty()
                                     ? reference("cert-manager.io", "Issuer", settings.name() + "-ca")
                                     : reference(settings.issuer_group, settings.issuer_kind, settings.issuer)}}));
  return objects;
}

}  // namespace fairlead::webhook::install
