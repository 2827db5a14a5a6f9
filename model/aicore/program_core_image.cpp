// SPDX-License-Identifier: Apache-2.0
// Programs: how they come from device memory, and calls of one by another.
#include <algorithm>
#include <utility>

#include "model/aicore/program_core.hpp"

namespace npu::model {

using abi::FaultCode;

namespace {

constexpr Bytes kFetch = 4096;  // one request of an object

}  // namespace

ProgramCore::Program ProgramCore::fetch(std::uint64_t image) {
  abi::ImageHeader header;
  if (image % abi::kImageAlignment != 0) raise_fault(FaultCode::kInvalidImage, image);
  read_memory(image, &header, sizeof header);
  ++statistics_.image_requests;
  if (!services_.loader.accepts(header)) raise_fault(FaultCode::kInvalidImage, image);
  const bool held = holds_image(header);
  if (!held) fetch_object(image + sizeof header, header);
  auto loaded = services_.loader.find(header);
  if (loaded.entry == nullptr) loaded = load_object(image, header);
  if (!held) keep_image(header);  // only now is it known to be one
  Program program{reinterpret_cast<platform::AicoreEntry>(loaded.entry), loaded.executed, {}};
  std::copy(header.name.begin(), header.name.end(), program.name.begin());
  return program;
}

bool ProgramCore::holds_image(const abi::ImageHeader& header) {
  const auto found = std::find_if(images_.begin(), images_.end(), [&](const CachedImage& image) {
    return image.digest == header.digest;
  });
  if (found == images_.end()) return false;
  std::rotate(images_.begin(), found, found + 1);
  return true;
}

void ProgramCore::keep_image(const abi::ImageHeader& header) {
  if (header.size > config_.instruction_cache) return;
  images_.insert(images_.begin(), {header.digest, header.size});
  Bytes held = 0;
  const auto out = std::find_if(images_.begin(), images_.end(), [&](const CachedImage& image) {
    held += image.size;
    return held > config_.instruction_cache;
  });
  images_.erase(out, images_.end());
}

void ProgramCore::fetch_object(std::uint64_t image, const abi::ImageHeader& header) {
  ++statistics_.image_fetches;
  const SimTime begin = local_;
  for (Bytes offset = 0; offset < header.size;) {
    const std::uint64_t address = image + offset;
    const Bytes length = std::min(header.size - offset, kFetch - address % kFetch);
    await_answers(kFetches - 1);
    ++answers_;
    request(false, address, length, kReadSlot);
    offset += length;
  }
  await_answers(0);
  statistics_.memory_wait += local_ - begin;
}

LoadedProgram ProgramCore::load_object(std::uint64_t image, const abi::ImageHeader& header) {
  std::vector<unsigned char> object(header.size);
  const auto completion =
      services_.memory.read(block_.vmid, image + sizeof header, object.data(), header.size);
  if (completion != Completion::kSuccess) raise_fault(device_fault(completion), image);
  const auto program = services_.loader.load(header, object.data());
  if (program.entry == nullptr) raise_fault(FaultCode::kInvalidImage, image);
  return program;
}

int ProgramCore::invoke(const platform::KernelCall& call) {
  enter_effect();
  if (depth_ == kMostCalls) raise_fault(FaultCode::kInstruction, call.image);
  // What the caller has issued belongs to its own call, flags between cores above all.
  if (!units_->pipes.drained()) pipe_barrier(platform::Pipe::kAll);
  catch_up();
  const SimTime begin = local_;
  const auto program = fetch(call.image);
  const platform::KernelCall caller = call_;
  const auto caller_identity = run_.identity();
  const unsigned caller_issued = std::exchange(issued_, 0);
  call_ = call;
  identify(program);
  ++depth_;
  set_up(local_);
  const int result = run_.call_program(program.executed, [&] { return program.entry(port_); });
  executed(run_.take_executed());
  pipe_barrier(platform::Pipe::kAll);
  leave_call();
  --depth_;
  call_ = caller;
  issued_ = caller_issued;
  run_.identify(caller_identity);
  polls_.close();
  ++statistics_.kernels;
  if (sim_.recorder.enabled()) {
    sim_.emit(track_of(platform::Pipe::kScalar), platform::Activity::kKernelCall, begin, local_,
              block_.cause, 0,
              std::uint64_t{call.block} << 48 | (call.arguments & 0xFFFF'FFFF'FFFF));
  }
  return result;
}

void ProgramCore::set_up(SimTime begun) {
  const SimTime found = std::exchange(found_at_, UINT64_MAX);
  if (found > begun || !sim_.recorder.enabled()) return;
  if (setup_track_ == 0) setup_track_ = sim_.recorder.track(track_ + ".setup");
  sim_.emit(setup_track_, platform::Activity::kTaskSetup, found, begun, block_.cause, 0,
            call_.block);
}

void ProgramCore::trap(std::uint16_t code) {
  enter_effect();
  raise_fault(FaultCode::kKernelTrap, code);
}

}  // namespace npu::model
