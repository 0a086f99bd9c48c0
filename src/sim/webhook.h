// A webhook of the cluster that is slow, answers with errors, goes away and comes back.
#pragma once

#include <string>

#include "sim/world.h"

namespace fairlead::sim {

struct WebhookWeather {
  Spells outages;
  // Each call takes up to this long.
  Duration slowest{};
  // How often it answers 503 or 500, or breaks the connection.
  double errors = 0;
};
WebhookWeather draw_webhook_weather(Random& random);

// Serves it, as that Service ("namespace/name") or url; with a `ca_bundle`, only to configurations that have it. Once
// the world is healed it is always there and answers at once. Outages are in the history under `service_or_url`.
void serve_webhook(World& world, std::string service_or_url, WebhookWeather weather,
                   sandbox::LocalWebhooks::Handler handler, std::string ca_bundle = {});

}  // namespace fairlead::sim
