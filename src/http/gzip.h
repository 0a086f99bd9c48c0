// Compressed bodies, made plain piece by piece as they are read: one that would grow without end fills no memory.
#pragma once

#include <memory>

#include "http/message.h"

namespace fairlead::http {

// Pieces have at most 64 KiB. A body that is no gzip, or ends too early, ends with an error of kind `protocol`.
std::unique_ptr<Body> gunzip(std::unique_ptr<Body> compressed);

}  // namespace fairlead::http
