// SPDX-License-Identifier: Apache-2.0
#include "model/registers/stream_registers.hpp"

namespace npu::model {

StreamRegisters::StreamRegisters(unsigned streams) : streams_(streams) {}

void StreamRegisters::reset() {
  for (auto& stream : streams_) stream.reset();
}

StreamRegisters::Stream& StreamRegisters::at(std::uint64_t stream) {
  auto& used = streams_[stream];
  if (!used) used = std::make_unique<Stream>();
  return *used;
}

void StreamRegisters::command_fetched(std::uint32_t stream) {
  auto& s = at(stream);
  if (s.in_flight++ == 0) s.bank.set(abi::StreamStatus{}.set<abi::StreamStatus::Busy>(1));
}

void StreamRegisters::command_completed(std::uint32_t stream, abi::FaultCode code) {
  auto& s = at(stream);
  auto completed = s.bank.get<abi::StreamCompleted>();
  ++completed.raw;
  s.bank.set(completed);
  if (code != abi::FaultCode::kNone && s.bank.get<abi::StreamFault>().raw == 0) {
    s.bank.set(abi::StreamFault::from_raw(static_cast<std::uint32_t>(code)));
  }
  if (--s.in_flight == 0) s.bank.set(abi::StreamStatus{});
}

bool StreamRegisters::host_read(std::uint64_t offset, unsigned char* data, std::size_t length) {
  return at(offset / abi::kStreamWindowSize)
      .bank.host_read(offset % abi::kStreamWindowSize, data, length);
}

bool StreamRegisters::host_write(std::uint64_t offset, const unsigned char* data,
                                 std::size_t length) {
  auto& stream = at(offset / abi::kStreamWindowSize);
  auto& bank = stream.bank;
  offset %= abi::kStreamWindowSize;
  // As it is when a run of registers begins: STREAM_CONTROL is the first to be written.
  const auto vmid = bank.get<abi::StreamVmid>().get<abi::StreamVmid::Vmid>();
  if (!bank.host_write(offset, data, length)) return false;
  // Writing Enable = 1 clears the stream's fault and latches its address space. Done here, not by a
  // hook, which every one of hundreds of streams would have to carry.
  const bool control = offset <= abi::StreamControl::kOffset;
  if (control && bank.get<abi::StreamControl>().get<abi::StreamControl::Enable>() != 0) {
    bank.set(abi::StreamFault{});
    stream.vmid = static_cast<std::uint8_t>(vmid);
  }
  return true;
}

}  // namespace npu::model
