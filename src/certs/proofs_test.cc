#include "certs/proofs.h"

#include "certs/sandbox_testing.h"

namespace fairlead::certs {
namespace {

using Verdict = Evidence::Verdict;

// What is seen when the sandbox's API server is asked.
class ProofsTest : public CertsTest {
 protected:
  std::string served(const std::vector<x509::Certificate>& roots, Duration patience = 0s) {
    ClusterProofs proofs(client_, spec_, {.run = "test", .handshake = handshake_});
    auto evidence = loop_.run(proofs.served(roots, {.ns = "shop", .name = "hook", .path = {}, .port = 443}, patience));
    if (!evidence) return evidence.error().report();
    return fmt::format("{}: {}", names_[size_t(evidence->verdict)], evidence->how);
  }
  std::string in_use(std::vector<object::Key> objects) {
    ClusterProofs proofs(client_, spec_, {.run = "test"});
    auto evidence = loop_.run(proofs.in_use(std::move(objects)));
    if (!evidence) return evidence.error().report();
    return fmt::format("{}: {}", names_[size_t(evidence->verdict)], evidence->how);
  }
  void endpoints(std::vector<std::string> addresses, std::string ports = R"([{"name":"https","port":9443}])") {
    std::string list;
    for (const std::string& address : addresses)
      list += fmt::format(R"({}{{"addresses":["{}"],"conditions":{{"ready":{}}}}})", list.empty() ? "" : ",", address,
                          address == "10.0.0.9" ? "false" : "true");
    send("POST", "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices",
         fmt::format(R"({{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","addressType":"IPv4",
             "metadata":{{"name":"hook-1","labels":{{"kubernetes.io/service-name":"hook"}}}},
             "ports":{},"endpoints":[{}]}})",
                     ports, list));
  }
  // What an address presents; nothing for one that cannot be reached.
  void present(std::string address, std::optional<x509::Certificate> leaf) { presented_[address] = std::move(leaf); }

  static constexpr std::string_view names_[] = {"proved", "refuted", "unknown"};
  std::map<std::string, std::optional<x509::Certificate>> presented_;
  std::vector<std::string> called_;
  Handshake handshake_ = [this](std::string address, int port,
                                std::string name) -> Task<Result<std::vector<x509::Certificate>>> {
    called_.push_back(fmt::format("{}:{} {}", address, port, name));
    if (!presented_[address]) co_return fail(ErrorKind::unavailable, "no route");
    co_return std::vector{*presented_[address]};
  };
  Material old_ = fresh(hook_spec(), now()), new_ = fresh(hook_spec(), now());
};

TEST_F(ProofsTest, EveryReadyEndpointHasToServeTheCertificate) {
  endpoints({"10.0.0.1", "10.0.0.2", "10.0.0.9"});
  present("10.0.0.1", new_.chain.front());
  present("10.0.0.2", old_.chain.front());
  EXPECT_EQ(served(new_.bundle),
            "refuted: endpoint 10.0.0.2:9443: certificate is signed by unknown authority \"hook.shop.svc CA\": an "
            "authority of that name is trusted, but it has another key");
  present("10.0.0.2", new_.chain.front());
  EXPECT_EQ(served(new_.bundle), "proved: 2 endpoints serve it");
  EXPECT_EQ(called_.back(), "10.0.0.2:9443 hook.shop.svc");
}

TEST_F(ProofsTest, LooksAgainWhileThereIsPatience) {
  endpoints({"10.0.0.1"});
  present("10.0.0.1", old_.chain.front());
  loop_.call_after(90s, [this] { present("10.0.0.1", new_.chain.front()); });
  EXPECT_EQ(served(new_.bundle, 5min), "proved: 1 endpoint serves it");
  present("10.0.0.1", old_.chain.front());
  EXPECT_TRUE(served(new_.bundle, 1min).starts_with("refuted: "));
}

TEST_F(ProofsTest, APortIsFoundByItsName) {
  send("POST", "/api/v1/namespaces/shop/services",
       R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"hook"},
           "spec":{"ports":[{"name":"metrics","port":80},{"name":"https","port":443}]}})");
  endpoints({"10.0.0.1"}, R"([{"name":"metrics","port":8080},{"name":"https","port":9443}])");
  present("10.0.0.1", new_.chain.front());
  EXPECT_EQ(served(new_.bundle), "proved: 1 endpoint serves it");
  EXPECT_EQ(called_, std::vector<std::string>{"10.0.0.1:9443 hook.shop.svc"});
}

TEST_F(ProofsTest, AnEndpointThatDoesNotSayWhetherItIsReadyCounts) {
  send("POST", "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices",
       R"({"addressType":"IPv4","metadata":{"name":"hook-1","labels":{"kubernetes.io/service-name":"hook"}},
           "ports":[{"name":"https","port":9443}],"endpoints":[{"addresses":["10.0.0.1"]}]})");
  present("10.0.0.1", old_.chain.front());
  EXPECT_TRUE(served(new_.bundle).starts_with("refuted: endpoint 10.0.0.1:9443: ")) << served(new_.bundle);
}

TEST_F(ProofsTest, NobodyServesAnOldCertificateIfNobodyServes) {
  EXPECT_EQ(served(new_.bundle), "proved: service shop/hook has no ready endpoint");
}

TEST_F(ProofsTest, NobodyKnowsWhoServesBehindAnExternalName) {
  send("POST", "/api/v1/namespaces/shop/services",
       R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"hook"},
           "spec":{"type":"ExternalName","externalName":"hooks.example.com"}})");
  EXPECT_TRUE(served(new_.bundle).starts_with("unknown: ")) << served(new_.bundle);
}

TEST_F(ProofsTest, OneAnswerProvesAllOnlyIfThereIsNoOtherEndpoint) {
  send("POST", "/api/v1/namespaces/shop/services",
       R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"hook"},"spec":{"ports":[{"port":443}]}})");
  endpoints({"10.0.0.1"}, R"([{"port":9443}])");
  auto answer = [](http::Request) -> Task<Result<http::Response>> { co_return http::Response{500, {}, "busy", 0}; };
  sandbox_.webhooks().serve("shop/hook", answer, x509::to_pem(new_.bundle));
  handshake_ = {};
  EXPECT_EQ(served(new_.bundle), "proved: the API server verified the endpoint with it");
  forbids = [](std::string_view, std::string_view resource) { return resource == "endpointslices"; };
  EXPECT_EQ(served(new_.bundle),
            "unknown: the API server verified one endpoint with it; others cannot be reached from here");
}

TEST_F(ProofsTest, AConfigurationIsProvedToBeInUse) {
  configure("shop", {hook("a.example.com")});
  object::Key key{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "shop"};
  EXPECT_EQ(in_use({key}), "proved: the API server was seen to use it");
  EXPECT_EQ(in_use({key, {"apiregistration.k8s.io", "APIService", "", "v1.x"}}),
            "unknown: there is no proof for an object of kind APIService");
  // Nothing is left behind.
  EXPECT_EQ(configuration("shop")["webhooks"].items().size(), 1u);
}

TEST_F(ProofsTest, WithoutTheRightToProbeNothingIsKnown) {
  configure("shop", {hook("a.example.com")});
  forbids = [](std::string_view verb, std::string_view resource) {
    return verb == "create" && (resource == "runtimeclasses" || resource == "configmaps");
  };
  std::string evidence = in_use({{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "shop"}});
  EXPECT_TRUE(evidence.starts_with("unknown: ")) << evidence;
  EXPECT_GT(evidence.size(), std::string_view("unknown: ").size());
}

}  // namespace
}  // namespace fairlead::certs
