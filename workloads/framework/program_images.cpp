// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/program_images.hpp"

#include <fmt/format.h>

namespace npu::workloads {

Result<ConstByteSpan> program_image(std::string_view name) {
  std::string known;
  for (const auto& program : embedded_programs()) {
    if (program.name == name) {
      return ConstByteSpan{program.begin, static_cast<std::size_t>(program.end - program.begin)};
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", program.name);
  }
  return fail(ErrorCode::kNotFound, fmt::format("no program \"{}\"; there are {}", name, known));
}

Result<ConstByteSpan> use_program(Report& report, const std::string& name) {
  const auto image = program_image(name);
  if (image) report.add_program(name, *image);
  return image;
}

}  // namespace npu::workloads
