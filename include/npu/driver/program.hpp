// SPDX-License-Identifier: Apache-2.0
// Programs of the card's own cores as the host holds them: shared objects built against
// include/npu/platform (abi/kernel_image.hpp).
#pragma once

#include <vector>

#include "npu/abi/kernel_image.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"
#include "npu/driver/export.hpp"

namespace npu::driver {

// Header and object, as they are uploaded: an ELF object without what is not loaded of it (section
// headers, symbols for linkers, debug information). kInvalidArgument: empty, or larger than
// kMaxImageSize with all of that.
NPU_API Result<std::vector<std::byte>> make_image(abi::ImageKind kind, ConstByteSpan object);

}  // namespace npu::driver
