// Writers that change a handful of ConfigMaps, each over a network of its own, whatever comes of it.
#pragma once

#include "kube/client.h"
#include "sim/world.h"

namespace fairlead::sim {

object::Resource config_maps();
Json config_map(std::string_view name, Json::Object data);

// What a client of that name has for options: chance decides how patient it is.
kube::Client::Options client_options(World& world, std::string_view name);

// Creates, changes and deletes objects, some of them labelled team=a.
Task<void> change_objects(World& world, std::string name);

// Runs that many writers, writer-1 and so on, to their end.
Task<void> change_objects(World& world, size_t writers);

}  // namespace fairlead::sim
