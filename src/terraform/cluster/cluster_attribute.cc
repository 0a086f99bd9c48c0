#include "terraform/cluster/cluster_attribute.h"

namespace fairlead::terraform {
namespace {

Attribute text(std::string name, std::string description) {
  return {.name = std::move(name), .optional = true, .description = std::move(description)};
}

Attribute secret(std::string name, std::string description) {
  Attribute attribute = text(std::move(name), std::move(description));
  attribute.sensitive = true;
  return attribute;
}

Attribute exec_attribute() {
  return {.name = "exec",
          .nesting = Nesting::single,
          .nested = {{.name = "api_version",
                      .required = true,
                      .description = "`client.authentication.k8s.io/v1` or `client.authentication.k8s.io/v1beta1`."},
                     {.name = "command", .required = true, .description = "The program that prints credentials."},
                     {.name = "args",
                      .type = Type::list(Type::string()),
                      .optional = true,
                      .description = "The arguments of the program."},
                     {.name = "env",
                      .type = Type::map(Type::string()),
                      .optional = true,
                      .description = "Environment variables for the program, besides those of Terraform."}},
          .optional = true,
          .description = "A program that prints credentials, as `aws eks get-token` does."};
}

// What both `cluster` and the clusters of the provider block have.
std::vector<Attribute> ways_to_connect() {
  return {
      secret(
          "kubeconfig",
          "The path or the content of a kubeconfig file. Exactly one of `kubeconfig` and `host` describes a cluster."),
      text("context", "The context in the kubeconfig. Required if it has more than one."),
      text("host", "The address of the API server, such as `https://10.0.0.1:6443`."),
      text("cluster_ca_certificate",
           "The certificate authority of the API server, as PEM or as base64 of PEM. Those of the system if it is not "
           "set."),
      {.name = "insecure",
       .type = Type::boolean(),
       .optional = true,
       .description = "Trust any certificate of the API server. Not together with `cluster_ca_certificate`."},
      text("tls_server_name", "The name in the certificate of the API server, if it is not the one in its address."),
      secret("token", "A bearer token."),
      text("client_certificate", "A client certificate, as PEM or as base64 of PEM. Needs `client_key`."),
      secret("client_key", "The key of the client certificate, as PEM or as base64 of PEM."),
      exec_attribute(),
      text("proxy_url", "A proxy on the way to the API server, such as `http://proxy:3128` or `socks5://proxy:1080`."),
  };
}

Attribute make_cluster_attribute() {
  std::vector<Attribute> nested = ways_to_connect();
  nested.insert(nested.begin(),
                text("name",
                     "The name of a cluster in the provider block. Nothing else may be set with it, and "
                     "nothing about the connection is stored in the state."));
  return {.name = "cluster",
          .nesting = Nesting::single,
          .nested = std::move(nested),
          .optional = true,
          .description =
              "The cluster: exactly one of `name`, `kubeconfig` and `host`, which may be unknown until apply. The only "
              "cluster of the provider block if it is not set."};
}

}  // namespace

const Attribute& cluster_attribute() {
  static const Attribute attribute = make_cluster_attribute();
  return attribute;
}

const Attribute& clusters_attribute() {
  static const Attribute attribute{.name = "clusters",
                                   .nesting = Nesting::map,
                                   .nested = ways_to_connect(),
                                   .optional = true,
                                   .description =
                                       "Clusters by name, for `cluster = { name = \"…\" }`. The values may be "
                                       "ephemeral: they are never stored in the state."};
  return attribute;
}

}  // namespace fairlead::terraform
