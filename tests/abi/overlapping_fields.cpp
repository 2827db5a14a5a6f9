// SPDX-License-Identifier: Apache-2.0
// Fields that share a bit do not compile: neither with the same lowest bit (NPU_TEST_LOW 4) nor
// otherwise (6). Compiled by a test, never linked.
#include "npu/abi/register_reference.hpp"

namespace npu::abi {

struct Sample : Register<Sample, std::uint32_t, 0, Access::kReadWrite> {
  static constexpr std::string_view kName = "SAMPLE";
  NPU_FIELD(First, 7, 4, "bits 7..4");
  NPU_FIELD(Second, 11, NPU_TEST_LOW, "bits from NPU_TEST_LOW on");
};
static_assert(are_fields_disjoint(make_fields(RegisterList<Sample>{})), "fields share a bit");

}  // namespace npu::abi
