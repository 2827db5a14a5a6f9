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
      images_(services.config.instruction_cache) {}

ProgramFetch::Program ProgramFetch::fetch(std::uint64_t image) {
  abi::ImageHeader header;
  if (image % abi::kImageAlignment != 0) thread_.raise_fault(FaultCode::kInvalidImage, image);
  reads_.read(image, &header, sizeof header);
  ++statistics_.image_requests;
  if (!services_.loader.accepts(header)) thread_.raise_fault(FaultCode::kInvalidImage, image);
  const bool held = images_.holds(header);
  if (!held) fetch_object(image + sizeof header, header.size);
  auto loaded = services_.loader.find(header);
  if (loaded.entry == nullptr) loaded = load(image, header);
  if (!held) images_.keep(header);  // only now is it known to be one
  Program program{reinterpret_cast<platform::AicoreEntry>(loaded.entry), loaded.executed, {}};
  std::copy(header.name.begin(), header.name.end(), program.name.begin());
  return program;
}

void ProgramFetch::fetch_object(std::uint64_t object, Bytes size) {
  ++statistics_.image_fetches;
  const SimTime begin = thread_.local();
  for (Bytes offset = 0; offset < size;) {
    const std::uint64_t address = object + offset;
    const Bytes length = std::min(size - offset, kRequest - address % kRequest);
    reads_.await(kMostInFlight - 1);
    reads_.send(address, length);
    offset += length;
  }
  reads_.await(0);
  statistics_.memory_wait += thread_.local() - begin;
  thread_.waited(platform::ScalarWait::kMemory, begin);
}

LoadedProgram ProgramFetch::load(std::uint64_t image, const abi::ImageHeader& header) {
  std::vector<unsigned char> object(header.size);
  const auto completion =
      services_.memory.read(calls_.space(), image + sizeof header, object.data(), header.size);
  if (completion != Completion::kSuccess) thread_.raise_fault(device_fault(completion), image);
  const auto program = services_.loader.load(header, object.data());
  if (program.entry == nullptr) thread_.raise_fault(FaultCode::kInvalidImage, image);
  return program;
}

}  // namespace npu::model
