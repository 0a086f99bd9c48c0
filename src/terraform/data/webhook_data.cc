#include "terraform/data/webhook_data.h"

#include <fmt/format.h>
#include <unistd.h>

#include "inventory/holder.h"
#include "terraform/objects/attributes.h"
#include "terraform/objects/deletion.h"
#include "terraform/objects/words.h"
#include "wait/wait.h"

namespace fairlead::terraform {
namespace {

constexpr Duration kLookTime = std::chrono::seconds(10);

Type layer_type() {
  return Type::object(
      {{"name", Type::string()}, {"state", Type::string()}, {"text", Type::string()}, {"next", Type::string()}});
}

Type hook_type() {
  return Type::object({{"name", Type::string()},
                       {"configuration", Type::string()},
                       {"rung", Type::string()},
                       {"layers", Type::list(layer_type())},
                       {"evidence", Type::list(Type::string())}});
}

const Schema& webhook_schema() {
  static const Schema kSchema{
      .version = 0,
      .description =
          "How far an admission webhook is: the API server is made to call it, by dry runs that store nothing.",
      .attributes = {{.name = "name",
                      .required = true,
                      .description = "A webhook configuration of either kind, or a webhook in any of them."},
                     optional_attribute("webhook", Type::string(), "One webhook of the configuration `name`."),
                     cluster_attribute(),
                     optional_attribute("timeout", Type::string(),
                                        "How long to wait until it is functional, `10s` by default."),
                     optional_attribute("required", Type::boolean(), "It is an error if it is not functional in time."),
                     computed_attribute("functional", Type::boolean(), "Every webhook was proved to answer."),
                     computed_attribute("reason", Type::string(), "What was seen last."),
                     computed_attribute(
                         "webhooks", Type::list(hook_type()),
                         "Each webhook with its layers (configuration, caBundle, service, endpoints, pods, "
                         "TLS, answer) and what the API server was seen to do.")},
      .blocks = {}};
  return kSchema;
}

Value value_of_hook(const wait::WebhookEnding& hook) {
  Value::Items layers, evidence;
  for (const wait::Layer& layer : hook.layers)
    layers.push_back(Value::object(
        {{"name", layer.name}, {"state", wait::name_of(layer.state)}, {"text", layer.text}, {"next", layer.next}}));
  for (const std::string& line : hook.evidence) evidence.emplace_back(line);
  return Value::object({{"name", hook.name},
                        {"configuration", hook.configuration.text()},
                        {"rung", readiness::name_of(hook.rung)},
                        {"layers", Value::list(std::move(layers))},
                        {"evidence", Value::list(std::move(evidence))}});
}

class WebhookDataSource final : public DataSource {
 public:
  std::string_view name() const override { return "fairlead_webhook"; }
  const Schema& schema() const override { return webhook_schema(); }

  Task<Diagnostics> validate(Context& context, Value config) override {
    Diagnostics found = context.clusters().check(config["cluster"], "cluster");
    check_duration(config["timeout"], "timeout", found);
    co_return found;
  }

  Task<DataResponse> read(Context& context, Value config) override {
    DataResponse response;
    std::string name(config["name"].string_or(""));
    object::Key key{.group = "", .kind = "webhook", .ns = "", .name = name};
    Connection* cluster = co_await connected(context, config["cluster"], key, response.diagnostics);
    if (!cluster) co_return response;
    std::string word =
        fmt::format("webhook/{}{}{}", name, config["webhook"].is_known() ? "/" : "", config["webhook"].string_or(""));
    Result<std::vector<wait::Target>> targets = wait::read_targets({word}, {});
    if (!targets) {
      response.diagnostics.error(Error(targets.error()).in(headline("There is no such webhook", key)), "name");
      co_return response;
    }
    wait::Options options;
    options.form = wait::Form::parse("functional").value();
    options.timeout = options.existence_timeout = duration_in(config["timeout"]).value_or(kLookTime);
    options.allow_short = true;
    options.default_namespace = cluster->default_namespace();
    options.run = inventory::run_of(::getpid());
    options.run_known_dead = inventory::is_gone_run;
    CancelSource* stop = co_await current_cancel();
    CancelSource own;
    journal::Journal journal(context.loop().clock());
    journal.read_by(log_reader(context.log()));
    wait::Ending ending = co_await wait::wait_for(cluster->client(), cluster->discovery(), *std::move(targets),
                                                  std::move(options), journal, stop)
                              .governed_by(&own);
    take(ending, config, key, response);
    co_return response;
  }

 private:
  static void take(const wait::Ending& ending, const Value& config, const object::Key& key, DataResponse& response) {
    bool is_functional = ending.how == wait::Ending::How::done;
    if (!is_functional && config["required"].bool_or(false)) {
      for (const journal::Cause& cause : ending.causes)
        response.diagnostics.error(Error(cause.error).in(headline("The webhook is not functional", key)), "name");
      if (response.diagnostics.has_errors()) return;
    }
    Value::Items hooks;
    std::string reason;
    for (const wait::ObjectEnding& object : ending.objects) {
      if (reason.empty()) reason = object.reason;
      for (const wait::WebhookEnding& hook : object.webhooks) hooks.push_back(value_of_hook(hook));
    }
    if (reason.empty() && !ending.causes.empty()) reason = ending.causes.front().error.message();
    response.state = config;
    response.state.make("functional") = is_functional;
    response.state.make("reason") = std::move(reason);
    response.state.make("webhooks") = Value::list(std::move(hooks));
  }
};

}  // namespace

std::unique_ptr<DataSource> make_webhook_data_source() { return std::make_unique<WebhookDataSource>(); }

}  // namespace fairlead::terraform
