// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/core.hpp"

#include <algorithm>
#include <cstring>

#include "npu/abi/page_table.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

using abi::FaultCode;
using abi::KernelFunction;

namespace {

constexpr Bytes kElement = 4;
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 44;
constexpr std::uint64_t kMaxSpin = 1'000'000'000'000;  // clocks
constexpr Bytes kPage = abi::entry_span(0);            // no access crosses one

// floor(n part / parts), without overflow for parts below 2^32.
std::uint64_t share(std::uint64_t n, std::uint64_t part, std::uint64_t parts) {
  return n / parts * part + n % parts * part / parts;
}

}  // namespace

Core::Core(Simulation& sim, const CoreConfig& config, std::uint32_t track, unsigned number,
           Owner& owner)
    : sim_(sim),
      config_(config),
      track_(track),
      number_(number),
      mhz_(std::max<std::uint64_t>(config.clock_hz / 1'000'000, 1)),
      owner_(owner),
      tiles_(std::max(config.buffers, 1U)) {}

SimTime Core::clocks(std::uint64_t count) const {
  return count / mhz_ * 1'000'000 + count % mhz_ * 1'000'000 / mhz_;
}

SimTime Core::vector_time(Bytes bytes) const {
  const unsigned percent = function() == KernelFunction::kVectorAdd ? config_.add_percent
                           : function() == KernelFunction::kCopy    ? config_.copy_percent
                                                                    : config_.fill_percent;
  return clocks(config_.fixed_clocks) + ceil_div(bytes, config_.repeat) * percent * 10'000 / mhz_;
}

unsigned Core::sources() const {
  if (function() == KernelFunction::kVectorAdd) return 2;
  return function() == KernelFunction::kCopy ? 1 : 0;
}

void Core::start(const KernelBlock& block) {
  sc_assert(!busy_);
  busy_ = true;
  running_ = stopped_ = reporting_ = false;
  ++generation_;
  block_ = block;
  fault_ = {};
  began_ = sim_now();
  accesses_ = 0;
  sim_.agenda.at<&Core::initialised>(sim_now() + ticks(config_.dispatch) + ticks(config_.init),
                                     *this, packed(0));
}

void Core::initialised(std::uint64_t argument) {
  if (stale(argument)) return;
  auto& tile = tiles_[0];
  if (tile.a.empty()) {
    for (auto& each : tiles_) each.a.resize(config_.burst), each.b.resize(config_.burst);
  }
  if (block_.argument_bytes < sizeof arguments_) {
    return fail({FaultCode::kInvalidSize, block_.arguments, block_.vmid, false});
  }
  ++accesses_;
  owner_.send(number_, {tlm::TLM_READ_COMMAND, block_.vmid, block_.arguments, tile.a.data(),
                        sizeof arguments_, block_.cause, kArguments << 8});
}

void Core::arguments_known(std::uint64_t argument) {
  if (stale(argument)) return;
  const auto code = check_arguments();
  if (code != FaultCode::kNone) return fail({code, block_.arguments, block_.vmid, false});
  running_ = true;
  if (function() == KernelFunction::kSpin) {
    tile_count_ = 1;
    stored_ = 0;
    sim_.agenda.at<&Core::spun>(sim_now() + clocks(arguments_.value), *this, packed(0));
    return;
  }
  split_work();
  pump();
}

FaultCode Core::check_arguments() const {
  switch (function()) {
    case KernelFunction::kSpin:
      return arguments_.value <= kMaxSpin ? FaultCode::kNone : FaultCode::kInvalidSize;
    case KernelFunction::kFill:
    case KernelFunction::kCopy:
    case KernelFunction::kVectorAdd:
      break;
    default:
      return FaultCode::kInvalidFunction;
  }
  const bool aligned =
      (arguments_.destination | arguments_.source_a | arguments_.source_b) % kElement == 0;
  const Bytes limit = std::uint64_t{1} << abi::kVirtualBits;
  if (!aligned || arguments_.elements > kMaxElements) return FaultCode::kInvalidSize;
  for (const auto address : {arguments_.destination, arguments_.source_a, arguments_.source_b}) {
    if (!range_fits(address, kElement * arguments_.elements, limit)) {
      return FaultCode::kDeviceAddress;
    }
  }
  return FaultCode::kNone;
}

void Core::split_work() {
  first_ = share(arguments_.elements, block_.block, block_.blocks);
  count_ = share(arguments_.elements, std::uint64_t{block_.block} + 1, block_.blocks) - first_;
  tile_count_ = ceil_div(count_ * kElement, config_.burst);
  next_load_ = next_compute_ = stored_ = 0;
  load_free_ = vector_free_ = store_free_ = sim_now();
  for (auto& tile : tiles_) tile.in_use = tile.loaded = false;
}

Bytes Core::bytes_of(const Tile& tile) const {
  return std::min(config_.burst, count_ * kElement - tile.number * config_.burst);
}

// --- pipes ---------------------------------------------------------------------------------

void Core::pump() {
  while (!stopped_ && next_load_ < tile_count_ && !tile_at(next_load_).in_use) begin_load();
  settle();
}

void Core::begin_load() {
  auto& tile = tile_at(next_load_);
  tile.in_use = true;
  tile.loaded = false;
  tile.number = next_load_++;
  if (sources() == 0) {
    tile.loaded = true;
    return begin_compute();
  }
  const SimTime begin = std::max(sim_now(), load_free_);
  load_free_ = begin + clocks(ceil_div(bytes_of(tile) * sources(), config_.load_per_clock));
  sim_.agenda.at<&Core::load>(begin, *this, packed(tile.number));
}

void Core::load(std::uint64_t argument) {
  if (stale(argument)) return;
  auto& tile = tiles_[argument & 0xFF];
  const Bytes offset = first_ * kElement + tile.number * config_.burst;
  access(tile, kLoad, arguments_.source_a + offset, tile.a.data());
  if (sources() == 2) access(tile, kLoad, arguments_.source_b + offset, tile.b.data());
}

void Core::access(Tile& tile, Part part, std::uint64_t address, unsigned char* data) {
  const auto command = part == kStore ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
  const auto slot = static_cast<std::uint32_t>(part) << 8 |
                    static_cast<std::uint32_t>(tile.number % tiles_.size());
  for (Bytes left = bytes_of(tile); left > 0;) {
    const Bytes length = std::min(left, kPage - address % kPage);
    ++accesses_;
    ++tile.accesses;
    owner_.send(number_, {command, block_.vmid, address, data, length, block_.cause, slot});
    address += length, data += length, left -= length;
  }
}

// Tiles are computed in order.
void Core::begin_compute() {
  while (next_compute_ < next_load_ && tile_at(next_compute_).loaded) {
    auto& tile = tile_at(next_compute_++);
    vector_free_ = std::max(sim_now(), vector_free_) + vector_time(bytes_of(tile));
    sim_.agenda.at<&Core::computed>(vector_free_, *this, packed(tile.number));
  }
}

void Core::computed(std::uint64_t argument) {
  if (stale(argument)) return;
  auto& tile = tiles_[argument & 0xFF];
  compute(tile);
  const SimTime begin = std::max(sim_now(), store_free_);
  store_free_ = begin + clocks(ceil_div(bytes_of(tile), config_.store_per_clock));
  if (begin == sim_now()) return store(argument);
  sim_.agenda.at<&Core::store>(begin, *this, argument);
}

void Core::store(std::uint64_t argument) {
  if (stale(argument)) return;
  auto& tile = tiles_[argument & 0xFF];
  const Bytes offset = first_ * kElement + tile.number * config_.burst;
  access(tile, kStore, arguments_.destination + offset, tile.a.data());
}

void Core::compute(Tile& tile) const {
  const Bytes bytes = bytes_of(tile);
  if (function() == KernelFunction::kFill) {
    const auto value = static_cast<std::uint32_t>(arguments_.value);
    for (Bytes i = 0; i < bytes; i += kElement) std::memcpy(&tile.a[i], &value, kElement);
  } else if (function() == KernelFunction::kVectorAdd) {
    for (Bytes i = 0; i < bytes; i += kElement) {
      float a = 0, b = 0;
      std::memcpy(&a, &tile.a[i], kElement);
      std::memcpy(&b, &tile.b[i], kElement);
      a += b;
      std::memcpy(&tile.a[i], &a, kElement);
    }
  }
}

void Core::answered(std::uint32_t slot, tlm::tlm_generic_payload& trans) {
  --accesses_;
  const auto completion = Transaction::of(trans).completion;
  if (completion != Completion::kSuccess) {
    return fail({device_fault(completion), trans.get_address(), block_.vmid, trans.is_write(),
                 trans.get_data_length()});
  }
  if (stopped_) return settle();
  if (slot >> 8 == kArguments) {
    std::memcpy(&arguments_, trans.get_data_ptr(), sizeof arguments_);
    sim_.agenda.at<&Core::arguments_known>(sim_now() + ticks(config_.software_init), *this,
                                           packed(0));
    return;
  }
  auto& tile = tiles_[slot & 0xFF];
  if (--tile.accesses > 0) return;
  if (slot >> 8 == kLoad) {
    tile.loaded = true;
    return begin_compute();
  }
  tile.in_use = false;
  ++stored_;
  pump();
}

void Core::spun(std::uint64_t argument) {
  if (stale(argument)) return;
  stored_ = 1;
  settle();
}

// --- the end -------------------------------------------------------------------------------

void Core::fail(const CommandFault& fault) {
  if (!fault_.failed()) fault_ = fault;
  stop();
}

void Core::stop() {
  if (!busy_) return;
  stopped_ = true;
  settle();
}

void Core::settle() {
  const bool done = running_ && stored_ == tile_count_;
  if (reporting_ || accesses_ > 0 || !(done || stopped_)) return;
  reporting_ = true;
  sim_.agenda.at<&Core::report>(sim_now() + ticks(config_.report), *this, generation_);
}

void Core::report(std::uint64_t generation) {
  if (generation != generation_) return;
  sim_.emit(track_, platform::Activity::kKernelBlock, began_, sim_now(), block_.cause,
            count_ * kElement, std::uint64_t{block_.function} << 32 | block_.block);
  busy_ = false;
  ++generation_;
  for (auto& tile : tiles_) tile.accesses = 0;
  const KernelBlock block = block_;
  const CommandFault fault = fault_;
  owner_.core_done(number_, block, fault);
}

void Core::reset() {
  ++generation_;
  busy_ = running_ = stopped_ = reporting_ = false;
  accesses_ = 0;
  for (auto& tile : tiles_) tile.accesses = 0;
}

}  // namespace npu::model
