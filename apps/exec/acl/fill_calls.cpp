// SPDX-License-Identifier: Apache-2.0
// Fills. The card fills whole words of 4 bytes of its own memory; what it fills of the host's
// pinned memory it copies there. And copies that reduce, and prefetches.
#include <algorithm>
#include <cstring>

#include "apps/exec/acl/copy_order.hpp"
#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

using driver::DeviceAddress;

constexpr Bytes kWord = 4;

std::uint32_t pattern_of(std::uint8_t byte) {
  return byte * 0x0101'0101U;
}

// A page of the card's memory that is filled and copied from.
class FilledPage {
 public:
  static Value<std::shared_ptr<FilledPage>> make(driver::AddressSpace& space) {
    driver::MemoryOptions options;
    options.counts = false;
    const auto memory = space.allocate(driver::kPageSize, options);
    if (!memory) return fault(memory.error());
    return std::make_shared<FilledPage>(space, memory->address);
  }
  FilledPage(driver::AddressSpace& space, DeviceAddress address)
      : space_(space), address_(address) {}
  ~FilledPage() { static_cast<void>(space_.free(address_)); }
  FilledPage(const FilledPage&) = delete;
  FilledPage& operator=(const FilledPage&) = delete;

  DeviceAddress address() const { return address_; }

 private:
  driver::AddressSpace& space_;
  const DeviceAddress address_;
};

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kMemset>& call) {
  const DeviceAddress at{call.address};
  const Bytes size = call.bytes;
  if (size == 0) return {};
  const auto card = caller.card_of(at, size);
  if (!card) return forward_fault(card);
  auto order = CopyOrder::of(caller, **card, call.order);
  if (!order) return forward_fault(order);
  const auto byte = static_cast<std::uint8_t>(call.value);
  const Bytes head = std::min<Bytes>((kWord - at.value % kWord) % kWord, size);
  const Bytes middle = (size - head) / kWord * kWord;
  const Bytes tail = size - head - middle;
  std::shared_ptr<platform::DmaMemory> edges;  // bytes beside whole words
  if (head + tail != 0) {
    auto made = (*card)->process().allocate_host(kWord, platform::DmaDirection::kDeviceReads);
    if (!made) return fault(made.error());
    edges = std::move(*made);
    std::memset(edges->cpu().data, byte, kWord);
  }
  const auto write = [&](Bytes offset, Bytes count) -> Outcome {
    if (count == 0) return {};
    return order->begin(driver::entries::copy_to_device(edges->bus(), at + offset, count), edges);
  };
  if (auto done = write(0, head); !done) return done;
  if (middle != 0) {
    const auto entry = driver::entries::fill(at + head, middle, pattern_of(byte));
    if (auto done = order->begin(entry); !done) return done;
  }
  return write(head + middle, tail);
}

Outcome serve(Caller& caller, const CallOf<Call::kFillWords>& call) {
  const DeviceAddress at{call.address};
  if (call.bytes == 0) return {};
  if (at.value % kWord != 0 || call.bytes % kWord != 0) {
    return fault(kRuntimeParameter, "words of 4 bytes are aligned to 4");
  }
  const auto card = caller.card_of(at, call.bytes);
  if (!card) return forward_fault(card);
  auto order = CopyOrder::of(caller, **card, call.order);
  if (!order) return forward_fault(order);
  return order->begin(
      driver::entries::fill(at, call.bytes, static_cast<std::uint32_t>(call.value)));
}

// A copy on the card that reduces.
Outcome serve(Caller& caller, const CallOf<Call::kReduce>& call) {
  const auto type = static_cast<abi::ElementType>(call.element);
  const auto operation = static_cast<abi::ReduceOperation>(call.operation);
  const DeviceAddress from{call.from}, to{call.to};
  if (call.bytes == 0) return {};
  if (call.element > abi::kElementTypes || !abi::can_reduce(type, operation)) {
    return fault(kFeature, "no engine computes that");
  }
  if ((call.from | call.to | call.bytes) % abi::element_size(type) != 0) {
    return fault(kRuntimeParameter, "elements are aligned to their size");
  }
  const auto card = caller.card_of(to, call.bytes);
  if (!card) return forward_fault(card);
  const auto source = caller.card_of(from, call.bytes);
  if (!source) return forward_fault(source);
  if (*source != *card) return fault(kFeature, "both are of one card");
  auto order = CopyOrder::of(caller, **card, call.order);
  if (!order) return forward_fault(order);
  return order->begin(driver::entries::reduce(false, from, to, call.bytes, type, operation));
}

Outcome serve(Caller& caller, const CallOf<Call::kPrefetch>& call) {
  const DeviceAddress at{call.address};
  if (call.bytes == 0) return {};
  const auto card = caller.card_of(at, call.bytes);
  if (!card) return forward_fault(card);
  auto order = CopyOrder::of(caller, **card, call.order);
  if (!order) return forward_fault(order);
  return order->begin(driver::entries::prefetch(at, call.bytes));
}

Outcome serve(Caller& caller, const CallOf<Call::kMemsetPinned>& call) {
  const auto memory = caller.process().pinned.find(call.memory);
  const Bytes offset = call.offset, size = call.bytes;
  if (memory == nullptr || offset > memory->shared->bytes().size ||
      size > memory->shared->bytes().size - offset) {
    return fault(kRuntimeParameter, "it is no host memory");
  }
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  auto order = CopyOrder::of(caller, **card, {1, call.stream});
  if (!order) return forward_fault(order);
  const auto mapped = (*card)->map(*memory);
  if (!mapped) return forward_fault(mapped);
  const auto page = FilledPage::make((*card)->space());
  if (!page) return forward_fault(page);
  const auto pattern = pattern_of(static_cast<std::uint8_t>(call.value));
  const Bytes filled = std::min<Bytes>((size + 3) / 4 * 4, driver::kPageSize);
  const auto kept = std::make_shared<
      std::pair<std::shared_ptr<FilledPage>, std::shared_ptr<platform::DmaMemory>>>(*page, *mapped);
  auto done = order->begin(driver::entries::fill((*page)->address(), filled, pattern), kept);
  for (Bytes at = 0; done && at < size; at += driver::kPageSize) {
    const Bytes piece = std::min<Bytes>(size - at, driver::kPageSize);
    done = order->begin(
        driver::entries::copy_to_host((*page)->address(), (*mapped)->bus() + offset + at, piece),
        kept);
  }
  if (done) order->remember(*memory, offset, size, call.stream);
  return done;
}

}  // namespace npu::exec::acl
