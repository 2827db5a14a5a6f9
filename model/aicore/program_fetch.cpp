// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/program_fetch.hpp"

#include <algorithm>

namespace npu::model {

using abi::FaultCode;

ProgramFetch::ProgramFetch(ProgramServices& services, const CallStack& calls, CoreThread& thread,
                           MemoryReads& reads, ProgramCoreStatistics& statistics)
    : services_(services),
      calls_(calls),
      thread_(thread),
      reads_(reads),
      statistics_(statistics),
      cache_(services.config.instruction_cache, services.config.instruction_line) {}

ProgramFetch::Program ProgramFetch::fetch(std::uint64_t image) {
  if (image % abi::kImageAlignment != 0) thread_.raise_fault(FaultCode::kInvalidImage, image);
  abi::ImageHeader header;
  std::uint64_t lines = 0;
  if (cache_.knows(calls_.space(), image)) {
    reads_.read(image, &header, sizeof header);
  } else {
    // How far it goes is not known yet; its page is there.
    lines = read_lines({image, kPage - image % kPage}, 0);
    read_now(image, &header, sizeof header);
  }
  if (!services_.loader.accepts(header)) thread_.raise_fault(FaultCode::kInvalidImage, image);
  auto loaded = services_.loader.find(header);
  if (loaded.entry == nullptr) loaded = load(image, header);
  // Only now is it known to be a program.
  auto& code = cache_.at(calls_.space(), image, header.digest);
  for (std::uint64_t i = 0; i < lines; ++i) cache_.fill(code, i);
  Program program{reinterpret_cast<platform::AicoreEntry>(loaded.entry),
                  loaded.executed,
                  {},
                  &code,
                  {image, sizeof header + header.size}};
  std::copy(header.name.begin(), header.name.end(), program.name.begin());
  return program;
}

void ProgramFetch::execute(const void* call, std::uint64_t instructions, PollLoop& polls) {
  if (running_ == nullptr) return;
  Program& program = *running_;
  const auto& config = services_.config;
  const auto block =
      program.code->code.run(program.before, call, instructions, config.instruction_bytes);
  program.before = call;
  const Bytes line = config.instruction_line;
  const Bytes first = program.place.image % line + sizeof(abi::ImageHeader) + block.first;
  for (std::uint64_t i = first / line; i <= (first + block.bytes - 1) / line; ++i) {
    ++statistics_.code_lines;
    if (cache_.holds(*program.code, i)) continue;
    ++statistics_.code_misses;
    polls.enter_effect();
    const auto lines = read_lines(program.place, i);
    for (std::uint64_t k = 0; k < lines; ++k) cache_.fill(*program.code, i + k);
  }
}

// Lines are aligned in memory; of an image that begins within one, that is the first. Nothing is
// read ahead of what is behind the image. An object with less of its own than the program executes
// is gone through again.
std::uint64_t ProgramFetch::read_lines(const Place& place, std::uint64_t first) {
  const auto& config = services_.config;
  const Bytes line = config.instruction_line;
  const std::uint64_t base = place.image / line * line;
  const std::uint64_t lines = ceil_div(place.image % line + place.size, line);
  const std::uint64_t begin = base + first % lines * line;
  const std::uint64_t end =
      std::min(begin + config.instruction_fetch_lines * line, base + lines * line);
  thread_.catch_up();
  const SimTime asked = thread_.local();
  for (std::uint64_t at = begin; at < end;) {
    const Bytes size = std::min(end - at, kPage - at % kPage);
    reads_.send(at, size);
    at += size;
  }
  reads_.await(0);
  statistics_.memory_wait += thread_.local() - asked;
  thread_.waited(platform::ScalarWait::kMemory, asked);
  return (end - begin) / line;
}

void ProgramFetch::read_now(std::uint64_t address, void* data, Bytes length) {
  const auto completion = services_.memory.read(calls_.space(), address, data, length);
  if (completion == Completion::kSuccess) return;
  thread_.raise_fault(device_fault(completion), address, false, length);
}

LoadedProgram ProgramFetch::load(std::uint64_t image, const abi::ImageHeader& header) {
  std::vector<unsigned char> object(header.size);
  read_now(image + sizeof header, object.data(), header.size);
  const auto program = services_.loader.load(header, object.data());
  if (program.entry == nullptr) thread_.raise_fault(FaultCode::kInvalidImage, image);
  return program;
}

}  // namespace npu::model
