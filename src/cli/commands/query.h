// What the commands share that only read a cluster: list, status, history, trace.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/core/connect.h"
#include "cli/core/flags.h"

namespace fairlead::cli {

// Adds -o text|wide|json|yaml.
void add_query_output(Command command, std::string& output);

// Prints the result in the format of -o. In text, `notes` go to standard error.
void print_result(const std::string& output, const std::string& text, const Json& json,
                  const std::vector<std::string>& notes);

// Connects to the cluster, runs the query and disconnects. The query returns the exit code, or an error, which is
// reported. Ctrl-C ends it.
int run_query(const Globals& globals, const std::function<Task<Result<int>>(Cluster& cluster)>& query);

}  // namespace fairlead::cli
