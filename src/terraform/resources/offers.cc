#include "terraform/resources/offers.h"

#include "terraform/bundle/bundle.h"
#include "terraform/data/manifests.h"
#include "terraform/data/object_data.h"
#include "terraform/data/webhook_data.h"
#include "terraform/object/object.h"
#include "terraform/patch/patch.h"
#include "terraform/wait/wait.h"

namespace fairlead::terraform {

Offers all_offers() {
  Offers offers;
  offers.resources.push_back(make_object_resource());
  offers.resources.push_back(make_wait_resource());
  offers.resources.push_back(make_patch_resource());
  offers.resources.push_back(make_bundle_resource());
  offers.data_sources.push_back(make_object_data_source());
  offers.data_sources.push_back(make_manifests_data_source());
  offers.data_sources.push_back(make_webhook_data_source());
  offers.ephemeral_resources.push_back(make_ephemeral_object());
  offers.functions.push_back(make_manifests_function());
  return offers;
}

}  // namespace fairlead::terraform
