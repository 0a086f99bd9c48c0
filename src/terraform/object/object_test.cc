#include "terraform/object/object_testing.h"

namespace fairlead::terraform {
namespace {

TEST_F(ObjectTest, IsCreatedAndThenNothingIsPlanned) {
  Value config = with(config_map("{a: \"1\", config.yaml: 'x: 1'}"));
  TestPlan first = plan(config);
  EXPECT_EQ(text_of(first.diagnostics), "");
  EXPECT_EQ(first.action, "create");
  EXPECT_EQ(first.planned["managed_state_projection"]["data[\"config.yaml\"]"].string_or(""), "x: 1");
  EXPECT_EQ(first.planned["object_ref"]["namespace"].string_or(""), "default");
  EXPECT_EQ(get(std::string(kSettings)).dump(), "null");
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"a":"1","config.yaml":"x: 1"})");
  EXPECT_EQ(plan(config).action, "none");
}

TEST_F(ObjectTest, CostsOneRequestPerObjectWhenNothingChanges) {
  Value config = with(config_map("{a: \"1\"}"));
  EXPECT_EQ(text_of(apply(config)), "");
  (void)plan(config);
  transport_.sent.clear();
  EXPECT_EQ(plan(config).action, "none");
  EXPECT_EQ(transport_.sent, std::vector<std::string>{"GET " + std::string(kSettings)});
}

TEST_F(ObjectTest, IsUpdatedInPlaceAndARemovedKeyGoes) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\", config.yaml: x}")))), "");
  std::string revision(state_["revision"].string_or(""));
  TestPlan changed = plan(with(config_map("{config.yaml: z}")));
  EXPECT_EQ(changed.action, "update");
  EXPECT_TRUE(changed.planned["revision"].is_unknown());
  EXPECT_EQ(text_of(apply(with(config_map("{config.yaml: z}")))), "");
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"config.yaml":"z"})");
  EXPECT_NE(state_["revision"].string_or(""), revision);
}

TEST_F(ObjectTest, DriftOfAKeyWithDotsIsFoundAndPutBackWithAWarningThatNamesTheManager) {
  Value config = with(config_map("{config.yaml: ours}"));
  EXPECT_EQ(text_of(apply(config)), "");
  merge(std::string(kSettings) + "?fieldManager=editor", R"({"data":{"config.yaml":"theirs"}})");
  TestPlan drift = plan(config);
  EXPECT_EQ(drift.action, "update");
  EXPECT_EQ(shown("data[\"config.yaml\"]"), "theirs");
  EXPECT_EQ(text_of(drift.diagnostics),
            "warning: data[\"config.yaml\"] is taken back from editor (ConfigMap default/settings) [yaml_body]\n"
            "  because   editor has set it to theirs, and the manifest says ours\n"
            "  next      if editor should manage it: ignore_fields = [\"data[\\\"config.yaml\\\"]\"]\n");
  (void)apply(config);
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"config.yaml":"ours"})");
  EXPECT_EQ(plan(config).action, "none");
}

TEST_F(ObjectTest, DriftInASetOfFinalizersIsFound) {
  Value config = with("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, finalizers: [example.com/ours]}\n");
  EXPECT_EQ(text_of(apply(config)), "");
  merge(std::string(kSettings), R"({"metadata":{"finalizers":["example.com/theirs"]}})");
  EXPECT_EQ(plan(config).action, "update");
  merge(std::string(kSettings), R"({"metadata":{"finalizers":null}})");
}

TEST_F(ObjectTest, FieldsOfOthersAreNoDrift) {
  Value config = with(config_map("{a: \"1\"}"));
  EXPECT_EQ(text_of(apply(config)), "");
  merge(std::string(kSettings), R"({"data":{"b":"2"},"metadata":{"labels":{"x":"y"}}})");
  EXPECT_EQ(plan(config).action, "none");
}

TEST_F(ObjectTest, FormattingAloneIsNoChange) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  Value again = with("# a comment\nkind: ConfigMap\napiVersion: v1\ndata:\n    a: '1'\nmetadata: {name: settings}\n");
  EXPECT_EQ(plan(again).action, "none");
}

TEST_F(ObjectTest, QuantitiesHaveTheServersForm) {
  auto limits = [](std::string_view cpu) {
    return fmt::format(
        "apiVersion: v1\nkind: LimitRange\nmetadata: {{name: limits}}\nspec: {{limits: [{{type: Container, default: "
        "{{cpu: {}}}}}]}}\n",
        cpu);
  };
  Value config = with(limits("1000m"));
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(plan(config).action, "none");
}

TEST_F(ObjectTest, ADeletedObjectIsCreatedAgain) {
  Value config = with(config_map("{a: \"1\"}"));
  EXPECT_EQ(text_of(apply(config)), "");
  request("DELETE", std::string(kSettings), "{}");
  EXPECT_EQ(plan(config).action, "create");
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"a":"1"})");
}

TEST_F(ObjectTest, IsDestroyed) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_TRUE(state_.is_null());
  EXPECT_TRUE(get(std::string(kSettings)).is_null());
}

TEST_F(ObjectTest, AnotherVersionOfTheKindIsAnUpdateInPlace) {
  std::string v1 =
      "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {maxReplicas: 3, "
      "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n";
  std::string v2 = v1;
  v2.replace(v2.find("/v1"), 3, "/v2");
  EXPECT_EQ(text_of(apply(with(v1))), "");
  Json before = get("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/web");
  TestPlan upgrade = plan(with(v2));
  EXPECT_EQ(text_of(upgrade.diagnostics), "");
  EXPECT_EQ(upgrade.action, "update");
  EXPECT_EQ(text_of(apply(with(v2))), "");
  Json after = get("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/web");
  EXPECT_EQ(after["metadata"]["uid"], before["metadata"]["uid"]);
  EXPECT_EQ(plan(with(v2)).action, "none");
}

TEST_F(ObjectTest, WhatTheServerWouldNotCreateEitherIsAnErrorOfThePlan) {
  EXPECT_EQ(text_of(apply(with(deployment_of("")))), "");
  TestPlan bad = plan(with(deployment_of("replicas: -1, ")));
  EXPECT_TRUE(bad.diagnostics.has_errors());
  EXPECT_TRUE(text_of(bad.diagnostics)
                  .starts_with("error: The cluster does not accept the object (Deployment default/web) [yaml_body]\n"))
      << text_of(bad.diagnostics);
}

TEST_F(ObjectTest, AnUnknownFieldIsAnErrorOfThePlan) {
  TestPlan bad = plan(with("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndate: {}\n"));
  EXPECT_TRUE(text_of(bad.diagnostics).contains(".date: field not declared in schema")) << text_of(bad.diagnostics);
}

TEST_F(ObjectTest, AnObjectOfOthersIsAnErrorWithTheImportBlock) {
  request("POST", "/api/v1/namespaces/default/configmaps?fieldManager=kubectl-create",
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"a":"theirs"}})");
  Value config = with(config_map("{a: \"1\"}"));
  EXPECT_EQ(text_of(plan(config).diagnostics),
            "error: The object exists already (ConfigMap default/settings) [yaml_body]\n"
            "  because   its fields are managed by kubectl-create\n"
            "  next      import it, with the address of this resource:\n\n"
            "import {\n  to = fairlead_object.NAME\n"
            "  id = \"namespace=default,api_version=v1,kind=ConfigMap,name=settings\"\n}\n\n"
            "            or set adopt = true, and the next apply takes it over\n");
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"a":"theirs"})");
}

TEST_F(ObjectTest, TheImportBlockOfAnErrorLeadsToTheSameCluster) {
  request("POST", "/api/v1/namespaces/default/configmaps",
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"a":"theirs"}})");
  auto advice = [&](Value cluster) {
    return text_of(plan(with(config_map("{a: \"1\"}"), {{"cluster", std::move(cluster)}})).diagnostics);
  };
  // Of the provider block's only cluster, nothing has to be said.
  std::string text = advice({});
  constexpr std::string_view kId = "namespace=default,api_version=v1,kind=ConfigMap,name=settings\"";
  EXPECT_TRUE(text.contains(fmt::format("id = \"{}", kId))) << text;
  text = advice(Value::object({{"kubeconfig", "/kubeconfig"}, {"context", "test"}}));
  EXPECT_TRUE(text.contains(fmt::format("id = \"kubeconfig=/kubeconfig,context=test,{}", kId))) << text;
  text = advice(Value::object({{"kubeconfig", "{\"clusters\": []}"}}));
  EXPECT_TRUE(text.contains("address of this resource, while KUBECONFIG names that kubeconfig:")) << text;
  EXPECT_TRUE(text.contains("id = \"test:default:v1/ConfigMap:settings\"")) << text;
  text = advice(Value::object({{"host", "https://here"}, {"token", "t0ken"}}));
  EXPECT_TRUE(text.contains("address of this resource, and with its cluster in the provider block as CLUSTER:"))
      << text;
  EXPECT_TRUE(text.contains(fmt::format("id = \"cluster=CLUSTER,{}", kId))) << text;
}

TEST_F(ObjectTest, AdoptionTakesOverTheFieldsOfKubectl) {
  request("POST", "/api/v1/namespaces/default/configmaps?fieldManager=kubectl-client-side-apply",
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"a":"theirs","old":"x"}})");
  Value config = with(config_map("{a: \"1\"}"), {{"adopt", true}});
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"a":"1"})");
  EXPECT_EQ(plan(config).action, "none");
}

TEST_F(ObjectTest, AnAdoptionIsTriedAgainWhenSomebodyElseWritesMeanwhile) {
  request("POST", "/api/v1/namespaces/default/configmaps?fieldManager=kubectl-client-side-apply",
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"a":"theirs","old":"x"}})");
  bool is_outrun = false;
  transport_.answers = [&](const http::Request& request) {
    bool is_takeover = request.method == "PATCH" && !request.target.contains("dryRun") &&
                       request.headers.find("Content-Type").value_or("") == "application/json-patch+json";
    return is_takeover && !std::exchange(is_outrun, true) ? 409 : 0;
  };
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}"), {{"adopt", true}}))), "");
  EXPECT_TRUE(is_outrun);
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"a":"1"})");
}

TEST_F(ObjectTest, ACreateThatWasKilledIsAdoptedOnRequest) {
  Value config = with(config_map("{a: \"1\"}"));
  EXPECT_EQ(text_of(apply(config)), "");
  // The state was not saved, and the process has ended.
  state_ = {};
  private_ = {};
  resource_ = make_object_resource();
  EXPECT_TRUE(text_of(plan(config).diagnostics).contains("one of an earlier run that was interrupted"));
  config.make("adopt") = true;
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(plan(config).action, "none");
}

TEST_F(ObjectTest, AnIgnoredFieldThatOnlyWeOwnKeepsItsValue) {
  EXPECT_EQ(text_of(apply(with(deployment_of("replicas: 3, ")))), "");
  Value config = with(deployment_of("replicas: 3, "), {{"ignore_fields", Value::list({"spec.replicas"})}});
  EXPECT_EQ(text_of(apply(config)), "");
  Json web = get("/apis/apps/v1/namespaces/default/deployments/web");
  EXPECT_EQ(web["spec"]["replicas"].int_or(0), 3);
  EXPECT_EQ(shown("spec.replicas"), "nothing");
  EXPECT_TRUE(web["metadata"]["managedFields"].dump().contains("fairlead-terraform-ignored"));
  merge("/apis/apps/v1/namespaces/default/deployments/web", R"({"spec":{"replicas":5}})");
  EXPECT_EQ(plan(config).action, "none");
  Value other = with(deployment_of("replicas: 1, paused: true, "), {{"ignore_fields", Value::list({"spec.replicas"})}});
  EXPECT_EQ(text_of(apply(other)), "");
  EXPECT_EQ(get("/apis/apps/v1/namespaces/default/deployments/web")["spec"]["replicas"].int_or(0), 5);
}

TEST_F(ObjectTest, AnIgnoredFieldIsSetWhenTheObjectIsCreated) {
  Value config = with(deployment_of("replicas: 3, "), {{"ignore_fields", Value::list({"spec.replicas"})}});
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(get("/apis/apps/v1/namespaces/default/deployments/web")["spec"]["replicas"].int_or(0), 3);
  EXPECT_EQ(plan(config).action, "none");
  merge("/apis/apps/v1/namespaces/default/deployments/web", R"({"spec":{"replicas":4}})");
  EXPECT_EQ(plan(config).action, "none");
}

TEST_F(ObjectTest, OnConflictFailReportsTheManagerAndTheField) {
  Value config = with(config_map("{a: ours}"), {{"on_conflict", "fail"}});
  EXPECT_EQ(text_of(apply(config)), "");
  merge(std::string(kSettings) + "?fieldManager=editor", R"({"data":{"a":"theirs"}})");
  std::string text = text_of(plan(config).diagnostics);
  EXPECT_TRUE(text.contains("editor")) << text;
  EXPECT_TRUE(text.contains("add the fields to ignore_fields, or set on_conflict")) << text;
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"a":"theirs"})");
}

TEST_F(ObjectTest, AFailedUpdateKeepsThePriorValues) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  Value config = with(config_map("{a: \"2\"}"));
  TestPlan planned = plan(config);
  transport_.answers = [](const http::Request& request) {
    return request.method == "PATCH" && !request.target.contains("dryRun") ? 403 : 0;
  };
  Diagnostics failed = apply_plan(planned, config);
  EXPECT_TRUE(text_of(failed).starts_with("error: The object was not accepted (ConfigMap default/settings)"))
      << text_of(failed);
  EXPECT_EQ(shown("data.a"), "1");
  transport_.answers = {};
  EXPECT_EQ(plan(config).action, "update");
}

TEST_F(ObjectTest, AFailedCreateLeavesNothingInTheState) {
  Value config = with(config_map("{a: \"1\"}"));
  TestPlan planned = plan(config);
  transport_.answers = [](const http::Request& request) {
    return request.method == "PATCH" && !request.target.contains("dryRun") ? 403 : 0;
  };
  EXPECT_TRUE(apply_plan(planned, config).has_errors());
  EXPECT_TRUE(state_.is_null());
}

TEST_F(ObjectTest, ACreateThatIsStoppedWhileItIsSentIsStillInTheState) {
  Value config = with(config_map("{a: \"1\"}"));
  TestPlan planned = plan_only(config);
  CancelSource stop;
  transport_.before = [&](const http::Request& request) {
    if (request.method == "PATCH" && !request.target.contains("dryRun")) stop.cancel();
  };
  Context context = this->context();
  ApplyResponse response = loop_.run(resource_
                                         ->apply(context, {.prior = {},
                                                           .planned = planned.planned,
                                                           .config = config_of(config),
                                                           .planned_private = planned.planned_private,
                                                           .planned_identity = {}})
                                         .governed_by(&stop));
  EXPECT_FALSE(response.state.is_null()) << text_of(response.diagnostics);
  EXPECT_FALSE(get(std::string(kSettings)).is_null());
}

TEST_F(ObjectTest, ARefreshWithExpiredCredentialsWarnsAndKeepsTheState) {
  Value config = with(config_map("{a: \"1\"}"));
  EXPECT_EQ(text_of(apply(config)), "");
  transport_.answers = [](const http::Request&) { return 401; };
  Diagnostics found = refresh();
  EXPECT_FALSE(found.has_errors());
  EXPECT_TRUE(text_of(found).starts_with(
      "warning: The object could not be read; the state stays as it was (ConfigMap default/settings) [cluster]\n"))
      << text_of(found);
  EXPECT_EQ(shown("data.a"), "1");
  transport_.answers = {};
  EXPECT_EQ(plan_only(config).action, "none");
  merge(std::string(kSettings), R"({"data":{"a":"drift"}})");
  EXPECT_EQ(plan_only(config).action, "update");
}

TEST_F(ObjectTest, AnObjectThatCanBeReadAgainIsNoLongerUnread) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  transport_.answers = [](const http::Request&) { return 401; };
  refresh();
  EXPECT_TRUE(private_["unread"].bool_or(false));
  transport_.answers = {};
  EXPECT_EQ(text_of(refresh()), "");
  EXPECT_FALSE(private_.contains("unread"));
}

TEST_F(ObjectTest, DestroyingInAnUnreachableClusterIsAnErrorUnlessTheClusterIsGone) {
  Value config = with(config_map("{a: \"1\"}"));
  EXPECT_EQ(text_of(apply(config)), "");
  transport_.fails = [](const http::Request&) { return true; };
  Diagnostics found = destroy();
  EXPECT_TRUE(text_of(found).contains(
      "error: The cluster cannot be reached, so nothing was deleted (ConfigMap default/settings) [cluster]\n"))
      << text_of(found);
  EXPECT_TRUE(text_of(found).contains("set cluster_gone = true")) << text_of(found);
  EXPECT_FALSE(state_.is_null());
  config.make("cluster_gone") = true;
  EXPECT_FALSE(apply(config).has_errors());
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_TRUE(state_.is_null());
}

TEST_F(ObjectTest, AChangedConnectionIsAChangeOfTheStateAlone) {
  Value config = with(config_map("{a: \"1\"}"), {{"cluster", Value::object({{"token", "old"}})}});
  EXPECT_EQ(text_of(apply(config)), "");
  config.make("cluster") = Value::object({{"token", "new"}});
  TestPlan planned = plan(config);
  EXPECT_EQ(planned.action, "update");
  EXPECT_FALSE(planned.planned["revision"].is_unknown());
  std::vector<std::string> writes;
  transport_.before = [&](const http::Request& request) {
    if (request.method != "GET" && !request.target.contains("dryRun")) writes.push_back(request.target);
  };
  EXPECT_EQ(text_of(apply_plan(planned, config)), "");
  EXPECT_EQ(writes, std::vector<std::string>());
  EXPECT_EQ(state_["cluster"]["token"].string_or(""), "new");
}

TEST_F(ObjectTest, AnUnknownClusterMakesAnHonestPlan) {
  Value config = with(config_map("{a: \"1\"}"), {{"cluster", Value::object({{"host", Value::unknown()}})}});
  TestPlan planned = plan(config);
  EXPECT_EQ(text_of(planned.diagnostics), "");
  EXPECT_EQ(planned.action, "create");
  EXPECT_TRUE(planned.planned["managed_state_projection"].is_unknown());
  EXPECT_EQ(planned.planned["object_ref"]["name"].string_or(""), "settings");
  EXPECT_TRUE(planned.planned["object_ref"]["namespace"].is_unknown());
  config.make("cluster") = Value::object({{"host", "https://known"}});
  EXPECT_EQ(text_of(apply(config)), "");
}

TEST_F(ObjectTest, AMissingNamespaceIsWaitedForDuringTheApply) {
  Value config = with("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {x: \"1\"}\n");
  TestPlan planned = plan(config);
  EXPECT_EQ(planned.action, "create");
  EXPECT_TRUE(planned.planned["managed_state_projection"].is_unknown());
  EXPECT_FALSE(planned.diagnostics.has_errors()) << text_of(planned.diagnostics);
  request_later(std::chrono::seconds(5), "POST", "/api/v1/namespaces",
                R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}})");
  EXPECT_FALSE(apply(config).has_errors());
  EXPECT_EQ(get("/api/v1/namespaces/shop/configmaps/a")["data"].dump(), R"({"x":"1"})");
}

TEST_F(ObjectTest, AKindThatNobodyServesIsUnknownInThePlanAndAnErrorAfterHalfAMinute) {
  Value config = with("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n");
  EXPECT_EQ(plan(config).action, "create");
  Diagnostics found = apply(config);
  EXPECT_TRUE(text_of(found).starts_with("error: The object was not accepted (Widget a) [yaml_body]\n"))
      << text_of(found);
  EXPECT_TRUE(text_of(found).contains("depends_on")) << text_of(found);
}

TEST_F(ObjectTest, AKindThatNoDefinitionCanBringIsAnErrorOfThePlan) {
  EXPECT_EQ(text_of(plan(with("apiVersion: v1\nkind: ConfigMapp\nmetadata: {name: a}\n")).diagnostics),
            "error: The cluster does not accept the object (ConfigMapp a) [yaml_body]\n"
            "  because   the cluster does not serve kind ConfigMapp in v1\n"
            "  next      kubectl api-resources\n");
  EXPECT_TRUE(text_of(plan(with("apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: a}\n")).diagnostics)
                  .contains("  next      change its apiVersion to apps/v1\n"));
}

TEST_F(ObjectTest, SecretDataAreNowhereButInTheManifest) {
  Value config = with("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter22222}\n",
                      {{"outputs", Value::list({"data.password"})}});
  TestPlan planned = plan(config);
  EXPECT_EQ(text_of(apply(config)), "");
  Value shown = state_;
  shown.make("yaml_body") = {};
  std::string text =
      shown.to_json()->dump() + private_.dump() + planned.planned["managed_state_projection"].to_json()->dump();
  EXPECT_FALSE(text.contains("hunter22222")) << text;
  EXPECT_FALSE(text.contains("aHVudGVy")) << text;
  EXPECT_TRUE(text.contains("sha256:")) << text;
  EXPECT_EQ(plan(config).action, "none");
}

TEST_F(ObjectTest, AWriteOnlyManifestIsAppliedAndNeverStored) {
  Value config = Value::object({{"yaml_body_wo", config_map("{a: v3rysecret}")}, {"yaml_body_wo_version", "1"}});
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"a":"v3rysecret"})");
  EXPECT_FALSE((state_.to_json()->dump() + private_.dump()).contains("v3rysecret"));
  Value other = Value::object({{"yaml_body_wo", config_map("{a: other}")}, {"yaml_body_wo_version", "1"}});
  EXPECT_EQ(plan(other).action, "none");
  other.make("yaml_body_wo_version") = "2";
  EXPECT_EQ(text_of(apply(other)), "");
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"a":"other"})");
  merge(std::string(kSettings), R"({"data":{"a":"drift"}})");
  EXPECT_EQ(plan(other).action, "update");
}

TEST_F(ObjectTest, AWriteOnlyManifestMayBeAnotherOneInTheApply) {
  auto manifest = [](std::string_view value, std::string_view version) {
    return Value::object(
        {{"yaml_body_wo", config_map(fmt::format("{{a: {}}}", value))}, {"yaml_body_wo_version", version}});
  };
  for (std::string_view version : {"1", "2"}) {
    TestPlan planned = plan(manifest("planned", version));
    EXPECT_EQ(text_of(planned.diagnostics), "");
    EXPECT_EQ(text_of(apply_plan(planned, manifest("applied" + std::string(version), version))), "");
    EXPECT_EQ(get(std::string(kSettings))["data"]["a"].string_or(""), "applied" + std::string(version));
    EXPECT_EQ(plan(manifest("planned", version)).action, "none");
  }
}

TEST_F(ObjectTest, AStuckFinalizerIsExplainedAndForceDestroyRemovesIt) {
  std::string yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, finalizers: [acme.dev/cleanup]}\n";
  EXPECT_EQ(text_of(apply(with(yaml, {{"delete_timeout", "1m"}}))), "");
  Diagnostics found = destroy();
  std::string text = text_of(found);
  EXPECT_TRUE(text.contains("error: The object was not deleted (ConfigMap default/settings) [object_ref]\n")) << text;
  EXPECT_TRUE(text.contains("finalizer acme.dev/cleanup has not been removed")) << text;
  EXPECT_TRUE(text.contains("set force_destroy = true")) << text;
  EXPECT_FALSE(state_.is_null());
  // It is forced within the time that there is.
  Value forced = with(yaml, {{"delete_timeout", "2s"}, {"force_destroy", true}});
  EXPECT_FALSE(apply(forced).has_errors());
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_TRUE(get(std::string(kSettings)).is_null());
}

TEST_F(ObjectTest, ApplyOnlyLeavesTheObject) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}"), {{"apply_only", true}}))), "");
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_TRUE(state_.is_null());
  EXPECT_FALSE(get(std::string(kSettings)).is_null());
}

TEST_F(ObjectTest, AnObjectThatAnotherResourceTookOverIsNotDeleted) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  Value first = state_;
  Json first_private = private_;
  state_ = {};
  private_ = {};
  // That of another configuration.
  begin_process(make_object_resource());
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}"), {{"adopt", true}}))), "");
  state_ = first;
  private_ = first_private;
  EXPECT_TRUE(text_of(destroy()).starts_with("warning: The object stays in the cluster (ConfigMap default/settings)"));
  EXPECT_FALSE(get(std::string(kSettings)).is_null());
}

TEST_F(ObjectTest, AnObjectThatOthersMadeInItsPlaceIsNotDeleted) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  TestPlan planned = plan({});
  EXPECT_EQ(planned.action, "destroy");
  request("DELETE", std::string(kSettings), "");
  request("POST", "/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"settings"},"data":{"b":"2"}})");
  EXPECT_EQ(text_of(apply_plan(planned, {})), "");
  EXPECT_TRUE(state_.is_null());
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"b":"2"})");
}

TEST_F(ObjectTest, AnObjectThatOthersMadeSinceThePlanKeepsItsFields) {
  Value config = with(config_map("{a: \"1\"}"));
  TestPlan planned = plan(config);
  EXPECT_EQ(planned.action, "create");
  request("POST", "/api/v1/namespaces/default/configmaps?fieldManager=others",
          R"({"metadata":{"name":"settings"},"data":{"a":"2"}})");
  Context context = this->context();
  ApplyResponse response = loop_.run(resource_->apply(context, {.prior = {},
                                                                .planned = planned.planned,
                                                                .config = config_of(config),
                                                                .planned_private = planned.planned_private,
                                                                .planned_identity = {}}));
  EXPECT_TRUE(text_of(response.diagnostics).starts_with("error: The object exists already"))
      << text_of(response.diagnostics);
  EXPECT_TRUE(response.state.is_null());
  EXPECT_EQ(get(std::string(kSettings))["data"]["a"].string_or(""), "2");
}

TEST_F(ObjectTest, OverrideNamespaceWins) {
  Value config = with("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: elsewhere}\n",
                      {{"override_namespace", "kube-public"}});
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_FALSE(get("/api/v1/namespaces/kube-public/configmaps/a").is_null());
  EXPECT_EQ(state_["object_ref"]["namespace"].string_or(""), "kube-public");
}

TEST_F(ObjectTest, OutputsHaveTheValuesOfOtherFields) {
  Value config = with("apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n",
                      {{"outputs", Value::list({"spec.clusterIP", "spec.ports", "status.absent"})}});
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(state_["output_values"]["spec.clusterIP"].string_or(""),
            get("/api/v1/namespaces/default/services/web")["spec"]["clusterIP"].string_or("x"));
  EXPECT_FALSE(state_["output_values"].contains("status.absent"));
  config.make("outputs") = Value::list({"spec.type"});
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(state_["output_values"]["spec.type"].string_or(""), "ClusterIP");
}

TEST_F(ObjectTest, IsImportedAndManagedFromThenOn) {
  request("POST", "/api/v1/namespaces/default/configmaps?fieldManager=kubectl-client-side-apply",
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"a":"1","old":"x"}})");
  Context context = this->context();
  ImportResponse imported =
      loop_.run(resource_->import(context, {.id = "a:b:default:v1/ConfigMap:settings", .identity = {}}));
  EXPECT_EQ(text_of(imported.diagnostics), "");
  state_ = config_of(imported.state);
  private_ = imported.private_state;
  EXPECT_EQ(state_["cluster"]["context"].string_or(""), "a:b");
  EXPECT_EQ(state_["yaml_body"].string_or(""),
            "apiVersion: v1\ndata:\n  a: \"1\"\n  old: x\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: "
            "default\n");
  Value config = with(config_map("{a: \"1\"}"));
  EXPECT_EQ(plan(config).action, "update");
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"a":"1"})");
  EXPECT_EQ(plan(config).action, "none");
}

TEST_F(ObjectTest, IsImportedByItsIdentityWhichHasNoVersion) {
  request("POST", "/apis/apps/v1/namespaces/default/deployments",
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"selector":{"matchLabels":
             {"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web",
             "image":"web:1"}]}}}})");
  Context context = this->context();
  Value identity = Value::object(
      {{"context", "test"}, {"group", "apps"}, {"kind", "Deployment"}, {"namespace", "default"}, {"name", "web"}});
  ImportResponse imported = loop_.run(resource_->import(context, {.id = "", .identity = identity}));
  EXPECT_EQ(text_of(imported.diagnostics), "");
  EXPECT_EQ(imported.state["object_ref"]["api_version"].string_or(""), "apps/v1");
  EXPECT_EQ(imported.identity["context"].string_or(""), "test");
  EXPECT_EQ(imported.identity["name"].string_or(""), "web");
  EXPECT_TRUE(conformed(imported.identity, resource_->identity_schema()->type()));
}

TEST_F(ObjectTest, AnImportOfNothingSaysWhatIsMissing) {
  Context context = this->context();
  ImportResponse imported =
      loop_.run(resource_->import(context, {.id = "test:default:v1/ConfigMap:none", .identity = {}}));
  EXPECT_TRUE(text_of(imported.diagnostics)
                  .starts_with("error: The object was not imported (test:default:v1/ConfigMap:none) []\n"))
      << text_of(imported.diagnostics);
}

TEST_F(ObjectTest, IsMovedFromK8sconnectWithItsFields) {
  request("PATCH", std::string(kSettings) + "?fieldManager=k8sconnect",
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","annotations":
              {"k8sconnect.terraform.io/terraform-id":"x"}},"data":{"a":"1","old":"x"}})",
          "application/apply-patch+yaml");
  Context context = this->context();
  Json source(
      Json::Object{{"yaml_body", config_map("{a: \"1\", old: x}")}, {"cluster", Json::Object{{"context", "test"}}}});
  MoveResponse moved =
      loop_.run(resource_->move(context, {.source_provider = "registry.terraform.io/jmorris0x0/k8sconnect",
                                          .source_type = "k8sconnect_object",
                                          .source_version = 1,
                                          .source_state = source,
                                          .source_private = {},
                                          .source_identity = {}}));
  EXPECT_EQ(text_of(moved.diagnostics), "");
  state_ = config_of(moved.state);
  private_ = moved.private_state;
  Value config = with(config_map("{a: \"1\"}"));
  EXPECT_EQ(plan(config).action, "update");
  EXPECT_EQ(text_of(apply(config)), "");
  Json settings = get(std::string(kSettings));
  EXPECT_EQ(settings["data"].dump(), R"({"a":"1"})");
  EXPECT_FALSE(settings["metadata"].dump().contains("k8sconnect")) << settings["metadata"].dump();
  EXPECT_EQ(plan(config).action, "none");
}

TEST_F(ObjectTest, AConfigurationThatCannotWorkIsRefusedBeforeAnyPlan) {
  auto found = [&](Value config) { return text_of(validate(std::move(config))); };
  EXPECT_TRUE(found(Value::object({})).contains("There is no manifest"));
  EXPECT_TRUE(found(with("a: b")).contains("[yaml_body]"));
  EXPECT_TRUE(found(with(config_map("{}") + "---\n" + config_map("{}"))).contains("more than one document"));
  EXPECT_TRUE(found(with("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: x}\n")).contains("metadata.uid"));
  EXPECT_TRUE(found(with("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nstatus: {}\n")).contains("status"));
  EXPECT_TRUE(found(with(config_map("{}"), {{"on_conflict", "never"}})).contains("[on_conflict]"));
  EXPECT_TRUE(found(with(config_map("{}"), {{"delete_timeout", "soon"}})).contains("[delete_timeout]"));
  EXPECT_TRUE(found(with(config_map("{}"), {{"ignore_fields", Value::list({"a["})}})).contains("[ignore_fields[0]]"));
  EXPECT_TRUE(
      found(with(config_map("{}"), {{"ignore_fields", Value::list({"metadata.name"})}})).contains("identifies"));
  EXPECT_EQ(found(with(config_map("{}"), {{"field_manager", ""}})),
            "error: field_manager cannot be used [field_manager]\n"
            "A field manager is a text of 1 to 128 printable characters.\n"
            "  next      leave field_manager out, and it is \"fairlead-terraform\"\n");
  EXPECT_TRUE(found(with(config_map("{}"), {{"field_manager", std::string(129, 'm')}})).contains("[field_manager]"));
  EXPECT_EQ(found(with(config_map("{}"), {{"field_manager", std::string(128, 'm')}})), "");
  EXPECT_EQ(found(with(config_map("{}"))), "");
}

}  // namespace
}  // namespace fairlead::terraform
