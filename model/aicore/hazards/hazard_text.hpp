// SPDX-License-Identifier: Apache-2.0
// Hazards in words, a line each.
#pragma once

#include <string>

#include "model/aicore/hazards/hazards.hpp"
#include "model/core/source_lines.hpp"

namespace npu::model {

class HazardText {
 public:
  // `loader`: of the programs. Both outlive this.
  HazardText(const Hazards& hazards, const ProgramLoader& loader)
      : hazards_(hazards), loader_(loader) {}

  // "UB 0x400..0x7ff: V add at kernels/device/vector/row_tile.hpp:40 from
  // kernels/device/operators/softmax.cpp:52 (softmax, core 24, block 0, instruction 14) reads what
  // MTE2 gm_to_ub at softmax+0x1b10 (core 24, block 0, instruction 12) writes, and nothing orders
  // them; 48 times". Of a program whose file has no lines there is the offset in it.
  std::string of(const Hazard& hazard);
  // "FILE:LINE (softmax, core 24, block 0, instruction 14)". On another core than the first that
  // came to the place: "(softmax, core 25)".
  std::string site_of(const HazardPlace& place, std::optional<std::uint16_t> core = {});

 private:
  std::string text_of(const HazardPlace& place, std::optional<std::uint16_t> core = {});

  const Hazards& hazards_;
  const ProgramLoader& loader_;
  SourceLines lines_;
};

}  // namespace npu::model
