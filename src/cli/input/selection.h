// --only and --skip: which objects of the manifests are meant.
#pragma once

#include <string>
#include <vector>

#include "manifest/manifest.h"

namespace fairlead::cli {

// Each is KIND, KIND/NAME (NAME may have `*`), or a label selector (app=web). With `only`, what matches one of them
// stays; of that, what matches one of `skip` goes. Leaving nothing is an error.
Result<void> select(manifest::Bundle& bundle, const std::vector<std::string>& only,
                    const std::vector<std::string>& skip);

}  // namespace fairlead::cli
