// SPDX-License-Identifier: Apache-2.0
// TPipe gives queues and buffers their places in local buffers. A queue orders the pipe that fills
// its tensors and the one that uses them by flags: EnQue sets one and DeQue waits for it,
// FreeTensor sets one and AllocTensor waits for it.
#pragma once

#include "npu/ascendc/sync.hpp"
#include "npu/ascendc/tensor.hpp"

namespace npu::ascendc {

inline constexpr unsigned kMostTensors = 64;  // of all queues of a kernel
inline constexpr int kNoFlag = -1;

// A flag of a tensor. It has a number of its own as long as there are some: so it is set again only
// behind the wait for it, because the tensor's other flag comes between.
class QueueFlag {
 public:
  QueueFlag() = default;
  explicit QueueFlag(const PipePair& pair) : pair_(pair), own_(keep_event(pair.from, pair.to)) {}

  bool is_set() const { return id_ != kNoFlag; }
  void set() {
    id_ = own_ != kNoFlag ? own_ : static_cast<int>(take_event(pair_.from, pair_.to));
    set_flag(pair_.from, pair_.to, static_cast<unsigned>(id_));
  }
  void wait() {
    const auto id = static_cast<unsigned>(id_);
    wait_flag(pair_.from, pair_.to, id);
    if (own_ == kNoFlag) give_event(pair_.from, pair_.to, id);
    id_ = kNoFlag;
  }
  void give_back() {
    if (own_ != kNoFlag) give_event(pair_.from, pair_.to, static_cast<unsigned>(own_));
    own_ = kNoFlag;
  }

 private:
  PipePair pair_{};
  int own_ = kNoFlag, id_ = kNoFlag;
};

// A tensor of a queue.
struct QueuedTensor {
  std::uint32_t address = 0, bytes = 0;
  bool used = false;
  QueueFlag filled, freed;
};

// The pipes of a queue's two sides.
struct QueueEvents {
  AscendC::HardEvent filled, freed;
};
constexpr QueueEvents events_of(AscendC::TPosition from, AscendC::TPosition to) {
  using AscendC::HardEvent;
  using AscendC::TPosition;
  if (from == TPosition::VECIN && to == TPosition::VECOUT) {
    return {HardEvent::MTE2_MTE3, HardEvent::MTE3_MTE2};
  }
  switch (from) {
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
      return {HardEvent::MTE2_MTE1, HardEvent::MTE1_MTE2};
    case TPosition::A2:
    case TPosition::B2:
      return {HardEvent::MTE1_M, HardEvent::M_MTE1};
    case TPosition::CO1:
      return {HardEvent::M_FIX, HardEvent::FIX_M};
    case TPosition::VECOUT:
      return {HardEvent::V_MTE3, HardEvent::MTE3_V};
    default:
      return {HardEvent::MTE2_V, HardEvent::V_MTE2};
  }
}

}  // namespace npu::ascendc

namespace AscendC {

template <TPosition kPlace>
class TBuf;

class TPipe {
 public:
  TPipe() {
    npu::ascendc::current->pipe = this;
    npu::ascendc::on_core([&](auto& port) {
      port.set_up({npu::platform::Tiling::kConstant, true, npu::ascendc::current->mixed});
    });
  }
  ~TPipe() { Destroy(); }
  TPipe(const TPipe&) = delete;
  TPipe& operator=(const TPipe&) = delete;

  void Init() {}
  // Waits until all that was begun has ended, and takes flags back that nobody waits for any more.
  void Destroy() {
    for (unsigned i = 0; i < tensors_; ++i) {
      take_back(all_[i]);
      all_[i].filled.give_back();
      all_[i].freed.give_back();
    }
    tensors_ = 0;
    npu::ascendc::pipe_barrier(npu::ascendc::Pipe::kAll);
  }
  void Reset() {
    Destroy();
    next_ = {};
  }

  // `count` tensors of `bytes`, each rounded up to 32.
  template <class Queue>
  bool InitBuffer(Queue& queue, std::uint8_t count, std::uint32_t bytes) {
    if (tensors_ + count > npu::ascendc::kMostTensors) return false;
    queue.take(&all_[tensors_], count);
    for (unsigned i = 0; i < count; ++i) {
      all_[tensors_++] = {place(Queue::kBuffer, bytes), bytes, false,
                          npu::ascendc::QueueFlag(Queue::kFilled),
                          npu::ascendc::QueueFlag(Queue::kFreed)};
    }
    return true;
  }
  template <TPosition kPlace>
  bool InitBuffer(TBuf<kPlace>& buffer, std::uint32_t bytes) {
    buffer.address_ = place(npu::ascendc::buffer_of(kPlace), bytes);
    buffer.bytes_ = bytes;
    return true;
  }

  template <HardEvent kEvent>
  TEventID AllocEventID() {
    return event_id(kEvent, true);
  }
  template <HardEvent kEvent>
  void ReleaseEventID(TEventID id) {
    constexpr auto kPair = npu::ascendc::pipes_of(kEvent);
    npu::ascendc::give_event(kPair.from, kPair.to, static_cast<unsigned>(id));
  }
  // One that is free now, and stays so.
  TEventID FetchEventID(HardEvent event) { return event_id(event, false); }
  template <HardEvent kEvent>
  TEventID FetchEventID() {
    return event_id(kEvent, false);
  }

 private:
  template <TPosition, TPosition, int>
  friend class TQueBind;

  static TEventID event_id(HardEvent event, bool keep) {
    const auto pair = npu::ascendc::pipes_of(event);
    return static_cast<TEventID>(npu::ascendc::take_event(pair.from, pair.to, keep));
  }
  static void take_back(npu::ascendc::QueuedTensor& tensor) {
    if (tensor.freed.is_set()) tensor.freed.wait();
  }
  std::uint32_t place(npu::ascendc::LocalBuffer buffer, std::uint32_t bytes) {
    auto& next = next_[static_cast<std::size_t>(buffer)];
    const std::uint32_t at = next;
    next += npu::aicore::round_up(bytes, npu::aicore::kLocalAlignment);
    return at;
  }

  std::array<npu::ascendc::QueuedTensor, npu::ascendc::kMostTensors> all_{};
  unsigned tensors_ = 0;
  std::array<std::uint32_t, npu::platform::kLocalBuffers> next_{};
};

inline TPipe* GetTPipePtr() {
  return npu::ascendc::current->pipe;
}

template <TPosition kFrom, TPosition kTo, int kDepth>
class TQueBind {
 public:
  static constexpr npu::ascendc::LocalBuffer kBuffer = npu::ascendc::buffer_of(kFrom);

  template <class T>
  LocalTensor<T> AllocTensor() {
    for (unsigned i = 0; i < count_; ++i) {
      auto& tensor = tensors_[(next_ + i) % count_];
      if (tensor.used) continue;
      next_ = (next_ + i + 1) % count_;
      TPipe::take_back(tensor);
      tensor.used = true;
      return tensor_of<T>(tensor);
    }
    npu::ascendc::refuse(npu::ascendc::Refusal::kNoBuffer);
  }
  template <class T>
  void AllocTensor(LocalTensor<T>& tensor) {
    tensor = AllocTensor<T>();
  }
  template <class T>
  bool EnQue(const LocalTensor<T>& tensor) {
    auto& entry = entry_of(tensor);
    entry.filled.set();
    if (queued_ == kMost) npu::ascendc::refuse(npu::ascendc::Refusal::kNoBuffer);
    queue_[(head_ + queued_++) % kMost] = &entry;
    return true;
  }
  template <class T>
  LocalTensor<T> DeQue() {
    if (queued_ == 0) npu::ascendc::refuse(npu::ascendc::Refusal::kNoBuffer);
    auto& entry = *queue_[head_];
    head_ = (head_ + 1) % kMost;
    --queued_;
    entry.filled.wait();
    return tensor_of<T>(entry);
  }
  template <class T>
  void DeQue(LocalTensor<T>& tensor) {
    tensor = DeQue<T>();
  }
  template <class T>
  void FreeTensor(const LocalTensor<T>& tensor) {
    auto& entry = entry_of(tensor);
    entry.freed.set();
    entry.used = false;
  }
  bool HasTensorInQue() const { return queued_ != 0; }
  std::int32_t GetTensorCountInQue() const { return static_cast<std::int32_t>(queued_); }
  bool HasIdleBuffer() const {
    for (unsigned i = 0; i < count_; ++i) {
      if (!tensors_[i].used) return true;
    }
    return false;
  }

 private:
  friend class TPipe;
  static constexpr unsigned kMost = 16;  // tensors
  static constexpr auto kFilled =
      npu::ascendc::pipes_of(npu::ascendc::events_of(kFrom, kTo).filled);
  static constexpr auto kFreed = npu::ascendc::pipes_of(npu::ascendc::events_of(kFrom, kTo).freed);

  void take(npu::ascendc::QueuedTensor* tensors, unsigned count) {
    tensors_ = tensors;
    count_ = count;
  }
  template <class T>
  LocalTensor<T> tensor_of(const npu::ascendc::QueuedTensor& entry) const {
    return {kFrom, entry.address, static_cast<std::uint32_t>(entry.bytes / sizeof(T))};
  }
  template <class T>
  npu::ascendc::QueuedTensor& entry_of(const LocalTensor<T>& tensor) const {
    for (unsigned i = 0; i < count_; ++i) {
      if (tensors_[i].address == tensor.GetPhyAddr() && tensors_[i].used) return tensors_[i];
    }
    npu::ascendc::refuse(npu::ascendc::Refusal::kNoBuffer);
  }

  npu::ascendc::QueuedTensor* tensors_ = nullptr;
  unsigned count_ = 0, next_ = 0, head_ = 0, queued_ = 0;
  std::array<npu::ascendc::QueuedTensor*, kMost> queue_{};
};

template <TPosition kPlace, int kDepth = 1>
class TQue : public TQueBind<kPlace, kPlace, kDepth> {};

// A part of a local buffer, without flags.
template <TPosition kPlace = TPosition::VECCALC>
class TBuf {
 public:
  template <class T>
  LocalTensor<T> Get() const {
    return {kPlace, address_, static_cast<std::uint32_t>(bytes_ / sizeof(T))};
  }
  template <class T>
  LocalTensor<T> Get(std::uint32_t elements) const {
    return {kPlace, address_, elements};
  }
  template <class T>
  LocalTensor<T> GetWithOffset(std::uint32_t elements, std::uint32_t bytes) const {
    return {kPlace, address_ + bytes, elements};
  }

 private:
  friend class TPipe;
  std::uint32_t address_ = 0, bytes_ = 0;
};

}  // namespace AscendC
