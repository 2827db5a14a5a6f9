// SPDX-License-Identifier: Apache-2.0
#include "model/dma/page_copies.hpp"

#include <cstring>
#include <utility>

#include "model/core/bus_page.hpp"
#include "npu/base/checked.hpp"
#include "npu/platform/trace.hpp"

namespace npu::model {
namespace {

constexpr unsigned kSource = 1, kDestination = 2, kSize = 4, kWhole = 7;
constexpr std::uint16_t kNoStream = 0xFFFF;

}  // namespace

PageCopies::PageCopies(CardRegisters& registers, Dma& dma)
    : registers_(registers),
      dma_(dma),
      shared_(dma.shared()),
      agent_{static_cast<std::uint8_t>(registers.function()), 0} {
  auto& bank = registers.bank();
  bank.on_write<abi::PageCopyControl>([this](abi::PageCopyControl v) { control_written(v); });
  bank.on_write<abi::PageCopySource>([this](abi::PageCopySource) { written_ |= kSource; });
  bank.on_write<abi::PageCopyDestination>(
      [this](abi::PageCopyDestination) { written_ |= kDestination; });
  bank.on_write<abi::PageCopySize>([this](abi::PageCopySize) { written_ |= kSize; });
  bank.on_write<abi::PageCopyStart>([this](abi::PageCopyStart v) { start_written(v); });
  bank.on_read<abi::PageCopyProgress>([this] {
    return abi::PageCopyProgress{}
        .set<abi::PageCopyProgress::Accepted>(accepted_)
        .set<abi::PageCopyProgress::Ended>(ended_);
  });
}

// What the engine has goes on; it belongs to another generation.
void PageCopies::control_written(abi::PageCopyControl control) {
  ++generation_;
  waiting_.clear();
  untold_.clear();
  decoding_ = written_ = 0;
  accepted_ = ended_ = 0;
  enabled_ = control.get<abi::PageCopyControl::Enable>() != 0;
}

void PageCopies::start_written(abi::PageCopyStart start) {
  registers_.bank().set(abi::PageCopyStart{});
  const bool whole = written_ == kWhole;
  written_ = 0;
  const bool next = start.get<abi::PageCopyStart::Number>() == ((accepted_ + 1) & 0xFFFF);
  if (!enabled_ || !whole || !next || accepted_ - ended_ >= abi::kPageCopySlots) return;
  ++accepted_;
  ++shared_.statistics.doorbells;
  waiting_.push_back(request_of(start));
  ++decoding_;
  const auto& dma = shared_.config.dma;
  shared_.sim.agenda.at<&PageCopies::decoded>(
      sim_now() + ticks(dma.doorbell_decode) + ticks(dma.descriptor_decode), *this, generation_);
}

DmaRequest PageCopies::request_of(abi::PageCopyStart start) const {
  const auto& bank = registers_.bank();
  DmaRequest request;
  request.client = const_cast<PageCopies*>(this);
  request.context = std::uint64_t{generation_} << 32 | accepted_;
  request.cause = platform::page_copy_cause(registers_.device_index(), accepted_);
  request.opcode = static_cast<std::uint8_t>(start.get<abi::PageCopyStart::Opcode>());
  request.operation = abi::find_ring_operation(request.opcode);
  if (request.operation == nullptr) request.fault.code = abi::FaultCode::kInvalidOpcode;
  request.function = agent_.function;
  request.space = space_of(agent_.function, abi::kVmidPhysical);
  request.source = bank.get<abi::PageCopySource>().raw;
  request.destination = bank.get<abi::PageCopyDestination>().raw;
  request.size = bank.get<abi::PageCopySize>().raw;
  request.stream = kNoStream;
  request.announced = true;
  return request;
}

void PageCopies::decoded(std::uint64_t generation) {
  if (generation != generation_) return;
  --decoding_;
  feed();
}

void PageCopies::feed() {
  auto& engine = dma_.engine(dma_.own_engine(agent_.function));
  while (waiting_.size() > decoding_ && !engine.full()) {
    waiting_.front().dispatched = sim_now();
    engine.accept(waiting_.front());
    waiting_.pop_front();
  }
}

// Behind the data, in front of the interrupt.
void PageCopies::dma_ended(const DmaRequest& request) {
  if (request.context >> 32 != generation_) return;
  ++ended_;
  const abi::PageCopyResult result{static_cast<std::uint32_t>(request.context),
                                   static_cast<std::uint32_t>(request.fault.code)};
  if (!post(result, request.cause)) untold_.push_back(result);
  raise(request.cause);
}

bool PageCopies::post(const abi::PageCopyResult& result, std::uint64_t cause) {
  const std::uint64_t base = align_down(registers_.bank().get<abi::PageCopyBase>().raw, kBusPage);
  auto& trans = shared_.ports.make_posted_write(
      agent_, base + sizeof result * ((result.number - 1) % abi::kPageCopySlots), sizeof result,
      cause);
  std::memcpy(trans.get_data_ptr(), &result, sizeof result);
  return shared_.ports.post(trans).has_value();
}

void PageCopies::raise(std::uint64_t cause) {
  const auto control = registers_.bank().get<abi::PageCopyControl>();
  registers_.raise(control.get<abi::PageCopyControl::Vector>(), cause);
}

void PageCopies::may_send_again() {
  if (!enabled_ || ended_ == 0) return;
  for (const auto& result : std::exchange(untold_, {})) post(result, 0);
  raise(0);
}

void PageCopies::dma_left(const DmaRequest&) {
  feed();
}

void PageCopies::reset() {
  ++generation_;
  waiting_.clear();
  untold_.clear();
  decoding_ = written_ = 0;
  accepted_ = ended_ = 0;
  enabled_ = false;
}

}  // namespace npu::model
