// SPDX-License-Identifier: Apache-2.0
// Firmware and kernels that npusim brings along: shared objects for the card's own cores.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"
#include "workloads/framework/reporting.hpp"

namespace npu::workloads {

struct EmbeddedProgram {
  std::string_view name;
  const std::byte* begin;
  const std::byte* end;
};
const std::vector<EmbeddedProgram>& embedded_programs();

// kNotFound names those there are.
Result<ConstByteSpan> program_image(std::string_view name);
// The same for a workload, whose report names what it used.
Result<ConstByteSpan> use_program(Report& report, const std::string& name);

}  // namespace npu::workloads
