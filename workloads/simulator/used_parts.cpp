// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/used_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace npu::workloads {
namespace {

using platform::Pipe;
using platform::PipeOperation;

constexpr double kSecond = 1e12;  // ps

// In the order of platform::Pipe.
constexpr std::array<const char*, platform::kPipes> kPipeNames = {
    "scalar", "vector", "cube", "mte1", "mte2", "mte3", "fixpipe"};

struct CopyRow {
  PipeOperation copy;
  Pipe pipe;
  model::CopyPathConfig model::ProgramCoreConfig::*path;
};
constexpr CopyRow kCopies[] = {
    {PipeOperation::kGmToL1, Pipe::kMte2, &model::ProgramCoreConfig::gm_to_l1},
    {PipeOperation::kGmToUb, Pipe::kMte2, &model::ProgramCoreConfig::gm_to_ub},
    {PipeOperation::kUbToGm, Pipe::kMte3, &model::ProgramCoreConfig::ub_to_gm},
    {PipeOperation::kL1ToGm, Pipe::kMte3, &model::ProgramCoreConfig::ub_to_gm},
    {PipeOperation::kFixpipeToGm, Pipe::kFixpipe, &model::ProgramCoreConfig::l0c_to_gm}};

Picoseconds picoseconds(double seconds) {
  return Picoseconds(std::llround(seconds * kSecond));
}

UsedPart pipe_part(const timeline::KernelUse& use, Pipe pipe, const model::ChipConfig& chip) {
  const auto index = static_cast<std::size_t>(pipe);
  const auto& used = use.pipes[index];
  UsedPart part;
  part.name = kPipeNames[index];
  part.cores = used.cores;
  part.busy = Picoseconds(used.busy.count() / std::max(used.cores, 1U));
  Bytes bytes = 0;
  double seconds = 0;
  // Split cores have one of a pipe's paths each, and so use them at the same time.
  const bool split = chip.core.type == model::ProgramCoreKind::kSplit;
  for (const auto& row : kCopies) {
    const auto& copies = use.copies[static_cast<std::size_t>(row.copy)];
    if (row.pipe != pipe || copies.bytes == 0) continue;
    const auto rate = static_cast<double>((chip.core.*row.path).per_clock) *
                      static_cast<double>(chip.aicore.clock_hz) * copies.cores;
    const double of_copies = rate > 0 ? static_cast<double>(copies.bytes) / rate : 0;
    bytes += copies.bytes;
    seconds = split ? std::max(seconds, of_copies) : seconds + of_copies;
  }
  if (bytes == 0) {
    part.least = *part.busy;
    return part;
  }
  part.bytes = bytes;
  part.least = picoseconds(seconds);
  if (seconds > 0) part.bytes_per_second = static_cast<double>(bytes) / seconds;
  return part;
}

UsedPart memory_part(const char* name, const timeline::MemoryUse& use, std::uint64_t rate) {
  UsedPart part;
  part.name = name;
  part.bytes = use.read + use.written;
  part.bytes_per_second = static_cast<double>(rate);
  if (rate != 0) part.least = picoseconds(static_cast<double>(*part.bytes) / part.bytes_per_second);
  return part;
}

}  // namespace

std::vector<UsedPart> used_parts(const timeline::KernelUse& use, const model::ChipConfig& chip,
                                 std::uint64_t l2_rate, std::uint64_t hbm_rate) {
  std::vector<UsedPart> parts;
  for (const auto pipe : {Pipe::kCube, Pipe::kVector, Pipe::kMte1, Pipe::kMte2, Pipe::kMte3,
                          Pipe::kFixpipe, Pipe::kScalar}) {
    if (use.pipes[static_cast<std::size_t>(pipe)].cores == 0) continue;
    parts.push_back(pipe_part(use, pipe, chip));
  }
  if (l2_rate != 0) parts.push_back(memory_part("l2", use.l2, l2_rate));
  parts.push_back(memory_part("hbm", use.hbm, hbm_rate));
  return parts;
}

const UsedPart* narrowest(const std::vector<UsedPart>& parts) {
  const auto most =
      std::max_element(parts.begin(), parts.end(),
                       [](const UsedPart& a, const UsedPart& b) { return a.least < b.least; });
  return most == parts.end() ? nullptr : &*most;
}

}  // namespace npu::workloads
