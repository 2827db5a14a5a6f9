// SPDX-License-Identifier: Apache-2.0
// Programs of the card's own cores as the host holds them: shared objects built against
// include/npu/platform (abi/kernel_image.hpp).
#pragma once

#include <vector>

#include "npu/abi/kernel_image.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/export.hpp"

namespace npu::driver {

// Header and object, as they are uploaded: an ELF object without what is not loaded of it (section
// headers, symbols for linkers, debug information). kInvalidArgument: empty, or larger than
// kMaxImageSize with all of that.
// `declared`: the size of the object in device memory, whatever a compiler made of it: zeros are
// put behind it, and loading it takes the time of that size. 0: its own size. kInvalidArgument: it
// needs more, or `declared` is more than kMaxImageSize.
NPU_API Result<std::vector<std::byte>> make_image(abi::ImageKind kind, ConstByteSpan object,
                                                  Bytes declared = 0);

}  // namespace npu::driver
